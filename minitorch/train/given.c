/* given.c -- see given.h. */
#include "train/given.h"

#include <stdio.h>
#include <stdlib.h>

#include "ckpt/safetensors.h"
#include "core/io.h"
#include "models/gpt2.h"
#include "amp/autocast.h"

mt_status mt_given_load(mt_module *model, const char *path)
{
    mt_safetensors *file = NULL;
    MT_TRY(mt_safetensors_open(&file, path));
    mt_state params = mt_module_params(model);
    mt_state_find(&params, "wte.weight")->rows = mt_gpt2_config_of(model)->vocabulary;
    mt_dtype stored = mt_safetensors_stored(file, &params, "transformer.");
    mt_status status = mt_safetensors_load(file, &params, "transformer.");
    if (status == MT_OK && stored != MT_F32)
        fprintf(stderr, "%s: %s, converted to f32\n", path, mt_dtype_name(stored));
    mt_state_free(&params);
    mt_safetensors_close(file);
    return status;
}

mt_status mt_given_export(const mt_module *model, const char *path, mt_dtype dtype)
{
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count && dtype != MT_F32; i++)
        params.item[i].tensor = mt_autocast_operand(params.item[i].tensor, dtype); /* held by the parameter */
    mt_status status = mt_safetensors_write(path, &params);
    mt_state_free(&params);
    if (status == MT_OK)
        printf("%" PRId64 " parameters in %s\n", mt_module_count(model), path);
    return status;
}

mt_status mt_given_batches(const char *path, const mt_batch_source *source, int64_t steps, int64_t micro, int64_t batch)
{
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    int64_t *index = mt_calloc(batch, sizeof *index);
    fprintf(file.out, "step,micro_batch");
    for (int64_t i = 1; i <= batch; i++)
        fprintf(file.out, ",window_%" PRId64, i);
    for (int64_t b = 0; b < steps * micro && !ferror(file.out); b++) {
        source->pick(index, source, b, batch);
        fprintf(file.out, "\n%" PRId64 ",%" PRId64, b / micro + 1, b % micro + 1);
        for (int64_t i = 0; i < batch; i++)
            fprintf(file.out, ",%" PRId64, index[i]);
    }
    fputc('\n', file.out);
    free(index);
    return mt_file_writer_close(&file);
}
