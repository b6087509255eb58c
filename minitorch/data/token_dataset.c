/* token_dataset.c -- a mapped token file as a data set. */
#include <stdlib.h>

#include "core/io.h"
#include "data/tokens.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "token files are read where they lie: little-endian only");

typedef struct token_dataset {
    mt_dataset base;
    mt_file_map file;
    mt_tokens tokens;
    mt_token_config config;
} token_dataset;

static mt_status token_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const token_dataset *set = (const token_dataset *)base;
    int64_t T = set->config.T, start = index * set->config.stride, limit = set->config.vocabulary;
    const int32_t *id = x, *last = (const int32_t *)y + T - 1;
    (void)rng;
    mt_tokens_window(x, y, &set->tokens, start, T);
    for (int64_t i = 0; limit > 0 && i <= T; i++) {
        int32_t token = i < T ? id[i] : *last;
        if (token < 0 || token >= limit)
            return mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": token %d, the vocabulary has %" PRId64,
                           set->file.path, MT_TOKENS_HEADER + (start + i) * set->tokens.size, token, limit);
    }
    return MT_OK;
}

static void token_close(mt_dataset *base)
{
    token_dataset *set = (token_dataset *)base;
    mt_file_map_close(&set->file);
    free(set);
}

static mt_status open_file(token_dataset *set, const char *path)
{
    mt_status status = mt_file_map_open(&set->file, path);
    if (status == MT_OK)
        status = mt_tokens_read(&set->tokens, path, set->file.bytes, set->file.size);
    if (status != MT_OK)
        return status;
    int64_t T = set->config.T, count = mt_tokens_windows(set->tokens.count, T, set->config.stride);
    if (count == 0)
        return mt_fail(MT_ERR_FORMAT, "%s: %" PRId64 " tokens, a window of %" PRId64 " needs %" PRId64, path,
                       set->tokens.count, T, T + 1);
    mt_field field = { MT_I32, MT_SHAPE(T) };
    set->base = (mt_dataset){ .count = count, .x = field, .y = field, .get = token_get, .close = token_close };
    return MT_OK;
}

mt_status mt_token_dataset_open(mt_dataset **out, const char *path, const mt_token_config *config)
{
    MT_CHECK(config->T >= 1 && config->stride >= 0, "windows of %" PRId64 " tokens, stride %" PRId64, config->T,
             config->stride);
    token_dataset *set = calloc(1, sizeof *set);
    MT_CHECK(set, "out of memory");
    set->config = *config;
    if (set->config.stride == 0)
        set->config.stride = config->T;
    mt_status status = open_file(set, path);
    if (status == MT_OK)
        *out = &set->base;
    else
        token_close(&set->base);
    return status;
}
