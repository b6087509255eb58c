/* weights.c -- all parameters side by side in one block, which is also what the file holds. */
#include "models/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/io.h"

struct mt_weights {
    mt_state params;
    float *copy;   /* [count] */
    int64_t count; /* of all parameters */
};

mt_weights *mt_weights_new(const mt_module *model)
{
    mt_weights *w = malloc(sizeof *w);
    MT_CHECK(w, "out of memory");
    *w = (mt_weights){ .params = mt_module_params(model), .count = mt_module_count(model) };
    w->copy = mt_alloc(w->count * (int64_t)sizeof *w->copy, MT_CPU);
    mt_weights_keep(w);
    return w;
}

void mt_weights_free(mt_weights *w)
{
    if (!w)
        return;
    mt_free(w->copy, w->count * (int64_t)sizeof *w->copy, MT_CPU);
    mt_state_free(&w->params);
    free(w);
}

void mt_weights_keep(mt_weights *w)
{
    float *to = w->copy;
    for (int64_t i = 0; i < w->params.count; i++) {
        const mt_tensor *t = w->params.item[i].tensor;
        mt_copy(to, MT_CPU, mt_f32(t), t->storage->device, mt_numel(t) * (int64_t)sizeof *to);
        to += mt_numel(t);
    }
}

void mt_weights_restore(const mt_weights *w)
{
    const float *from = w->copy;
    for (int64_t i = 0; i < w->params.count; i++) {
        mt_tensor *t = w->params.item[i].tensor;
        mt_copy(mt_f32(t), t->storage->device, from, MT_CPU, mt_numel(t) * (int64_t)sizeof *from);
        mt_written(t);
        from += mt_numel(t);
    }
}

/* ---- the file ------------------------------------------------------------------------------------ */

/* Names are paths of our own modules: letters, digits, dots and underscores need no quoting. */
static void put_header(FILE *text, const mt_state *params)
{
    int64_t at = 0;
    for (int64_t i = 0; i < params->count; i++) {
        const mt_tensor *t = params->item[i].tensor;
        int64_t end = at + mt_numel(t) * (int64_t)sizeof(float);
        fprintf(text, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[", i ? "," : "{", params->item[i].name);
        for (int d = 0; d < t->view.rank; d++)
            fprintf(text, "%s%" PRId64, d ? "," : "", t->view.shape[d]);
        fprintf(text, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", at, end);
        at = end;
    }
    fputs("}", text);
}

static void write_all(FILE *file, const mt_weights *w)
{
    char *header = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&header, &length);
    MT_CHECK(text, "out of memory");
    put_header(text, &w->params);
    while (ftell(text) % 8 != 0) /* so that the numbers lie aligned in a mapped file */
        fputc(' ', text);
    fclose(text);
    uint64_t n = length;
    fwrite(&n, sizeof n, 1, file);
    fwrite(header, 1, length, file);
    fwrite(w->copy, sizeof *w->copy, (size_t)w->count, file);
    free(header);
}

mt_status mt_weights_write(const mt_weights *w, const char *path)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    write_all(file.out, w);
    return mt_file_writer_close(&file);
}
