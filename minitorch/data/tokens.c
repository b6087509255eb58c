/* tokens.c -- windows of tokens as a data set; see tokens.h. Checking a token file and reading a window: unit tokens.c
 * of lab 05. */
#include "data/tokens.h"

#include <inttypes.h>
#include <stdlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "token files are read in place: little-endian only");

typedef struct token_windows {
    mt_dataset base;
    mt_tokens tokens;
    int64_t T, stride;
} token_windows;

static mt_status windows_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const token_windows *set = (const token_windows *)base;
    (void)rng;
    mt_tokens_window(x, y, &set->tokens, index * set->stride, set->T);
    return MT_OK;
}

static void windows_close(mt_dataset *base)
{
    free(base);
}

mt_dataset *mt_token_windows_new(const mt_tokens *tokens, int64_t T, int64_t stride)
{
    token_windows *set = mt_calloc(1, sizeof *set);
    mt_field field = { MT_I32, MT_SHAPE(T) };
    MT_CHECK(T >= 1 && stride >= 1, "windows of %" PRId64 " tokens, stride %" PRId64, T, stride);
    int64_t count = mt_tokens_windows(tokens->count, T, stride);
    MT_CHECK(count >= 1, "%" PRId64 " tokens, a window of %" PRId64 " needs %" PRId64, tokens->count, T, T + 1);
    *set = (token_windows){ { count, field, field, windows_get, windows_close, NULL }, *tokens, T, stride };
    return &set->base;
}
