/* given.c -- see given.h. */
#include "train/given.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/manifest.h"
#include "ckpt/safetensors.h"
#include "cli/cli.h"
#include "core/io.h"
#include "amp/autocast.h"

static bool is_folder(const char *path)
{
    struct stat info;
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

const char *mt_given_file(char out[4096], const char *path, const char *name)
{
    snprintf(out, 4096, is_folder(path) ? "%s/%s" : "%s", path, name);
    return out;
}

/* ---- config.json --------------------------------------------------------------------------------------- */

/* Its names of our sizes; the context is the last. */
static const struct {
    const char *name, *option;
    size_t at;
} sizes[] = { { "n_layer", "layers", offsetof(mt_gpt2_config, layers) },
              { "n_head", "heads", offsetof(mt_gpt2_config, heads) },
              { "n_embd", "width", offsetof(mt_gpt2_config, width) },
              { "n_positions", "block", offsetof(mt_gpt2_config, block) } };

static mt_status take_sizes(mt_gpt2_config *config, const cJSON *json, const char *path)
{
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "model_type"));
    const char *act = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "activation_function"));
    if (!type || strcmp(type, "gpt2") != 0 || (act && strcmp(act, "gelu_new") != 0))
        return mt_fail(MT_ERR_FORMAT, "%s: model_type %.40s%s%.40s; only gpt2 with gelu_new can be read", path,
                       type ? type : "is not given", act ? " with " : "", act ? act : "");
    for (int i = 0; i < MT_COUNT(sizes); i++) {
        int64_t *size = (int64_t *)((char *)config + sizes[i].at);
        int64_t there = mt_json_whole(cJSON_GetObjectItemCaseSensitive(json, sizes[i].name));
        if (there < 1)
            return mt_fail(MT_ERR_FORMAT, "%s: %s is not a size", path, sizes[i].name);
        if (*size > there || (*size && *size < there && i < MT_COUNT(sizes) - 1))
            return mt_fail(MT_ERR_ARGUMENT, "%s: %s is %" PRId64 ", so that --%s cannot be %" PRId64 ": leave it out",
                           path, sizes[i].name, there, sizes[i].option, *size);
        *size = *size ? *size : there;
    }
    return MT_OK;
}

mt_status mt_given_sizes(mt_gpt2_config *config, const char *path)
{
    char name[4096];
    mt_file_map file;
    if (!is_folder(path))
        return MT_OK;
    MT_TRY(mt_file_map_open(&file, mt_given_file(name, path, "config.json")));
    cJSON *json = mt_json_parse((const char *)file.bytes, file.size);
    mt_file_map_close(&file);
    mt_status status = json ? take_sizes(config, json, name) : mt_fail(MT_ERR_FORMAT, "%s: no JSON", name);
    cJSON_Delete(json);
    return status;
}

static mt_status write_config(const mt_gpt2_config *c, const mt_vocabulary *vocabulary, const char *folder)
{
    char path[4096];
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, mt_given_file(path, folder, "config.json")));
    fputs("{\n  \"architectures\": [\"GPT2LMHeadModel\"],\n  \"model_type\": \"gpt2\",\n"
          "  \"activation_function\": \"gelu_new\",\n  \"layer_norm_epsilon\": 1e-05,\n",
          file.out);
    for (int i = 0; i < MT_COUNT(sizes); i++)
        fprintf(file.out, "  \"%s\": %" PRId64 ",\n", sizes[i].name, *(const int64_t *)((const char *)c + sizes[i].at));
    if (vocabulary && vocabulary->end_of_text >= 0)
        fprintf(file.out, "  \"bos_token_id\": %d,\n  \"eos_token_id\": %d,\n", vocabulary->end_of_text,
                vocabulary->end_of_text);
    fprintf(file.out, "  \"vocab_size\": %" PRId64 "\n}\n", c->rows); /* also of the rows that only pad the table */
    return mt_file_writer_close(&file);
}

/* ---- the vocabulary ------------------------------------------------------------------------------------ */

/* The number of tokens, from the first on, that are the same in both. */
static int64_t same_tokens(const mt_strings *a, const mt_strings *b)
{
    int64_t same = 0, most = mt_min(a->count, b->count);
    while (same < most && a->start[same + 1] == b->start[same + 1] &&
           memcmp(a->bytes + a->start[same], b->bytes + b->start[same],
                  (size_t)(a->start[same + 1] - a->start[same])) == 0)
        same++;
    return same;
}

mt_status mt_given_tokens(const mt_vocabulary *vocabulary, const char *path)
{
    char name[4096];
    mt_vocabulary *theirs = NULL;
    if (!is_folder(path) || (access(mt_given_file(name, path, "vocab.bpe"), F_OK) != 0 &&
                             access(mt_given_file(name, path, "merges.txt"), F_OK) != 0))
        return MT_OK;
    MT_TRY(mt_vocabulary_open(&theirs, path));
    int64_t same = same_tokens(&vocabulary->token, &theirs->token), most = theirs->token.count;
    mt_vocabulary_free(theirs);
    return same == mt_min(most, vocabulary->token.count)
               ? MT_OK
               : mt_fail(MT_ERR_ARGUMENT,
                         "%s has another vocabulary than the data (token %" PRId64 " differs): encode the text with "
                         "the vocabulary of the weights",
                         path, same);
}

/* ---- weights ------------------------------------------------------------------------------------------- */

mt_status mt_given_load(mt_module *model, const char *path)
{
    char name[4096];
    mt_safetensors *file = NULL;
    path = mt_given_file(name, path, "model.safetensors");
    MT_TRY(mt_safetensors_open(&file, path));
    mt_state params = mt_module_params(model);
    mt_state_find(&params, "wte.weight")->rows = mt_gpt2_config_of(model)->vocabulary;
    mt_state_find(&params, "wpe.weight")->longer = true;
    mt_dtype stored = mt_safetensors_stored(file, &params, "transformer.");
    mt_status status = mt_safetensors_load(file, &params, "transformer.");
    if (status == MT_OK && stored != MT_F32)
        fprintf(stderr, "%s: %s, converted to f32\n", path, mt_dtype_name(stored));
    mt_state_free(&params);
    mt_safetensors_close(file);
    return status;
}

mt_status mt_given_export(const mt_module *model, const char *path, mt_dtype dtype, const mt_vocabulary *vocabulary)
{
    char name[4096];
    if (is_folder(path)) {
        MT_TRY(mt_cli_folder(path));
        MT_TRY(write_config(mt_gpt2_config_of(model), vocabulary, path));
        MT_TRY(vocabulary ? mt_vocabulary_publish(vocabulary, path) : MT_OK);
    }
    path = mt_given_file(name, path, "model.safetensors");
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
