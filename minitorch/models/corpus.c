/* corpus.c -- text into tokens, tokens into batches. */
#include "models/corpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/rng.h"
#include "core/scope.h"
#include "data/file_map.h"

static mt_status encode(mt_corpus *c, const uint8_t *bytes, int64_t size)
{
    c->ids = malloc((size_t)(size + 1) * sizeof *c->ids);
    MT_CHECK(c->ids, "out of memory");
    mt_encoder *encoder = mt_encoder_new(c->tokenizer);
    mt_status status = mt_encode(encoder, c->ids, &c->count, bytes, size);
    mt_encoder_free(encoder);
    c->train = c->count * 9 / 10;
    return status;
}

mt_status mt_corpus_open(mt_corpus *out, const char *text, const char *dir, int64_t T)
{
    mt_corpus c = { 0 };
    mt_file_map file;
    mt_status status = mt_file_map_open(&file, text);
    if (status != MT_OK)
        return status;
    status = dir ? mt_tokenizer_open(&c.tokenizer, dir) : mt_tokenizer_characters(&c.tokenizer, file.bytes, file.size);
    if (status == MT_OK)
        status = encode(&c, file.bytes, file.size);
    if (status == MT_OK && mt_min(c.train, c.count - c.train) < T + 1)
        status = mt_fail(MT_ERR_FORMAT, "%s: %" PRId64 " tokens are too few: a tenth must hold %" PRId64, text, c.count,
                         T + 1);
    mt_file_map_close(&file);
    if (status == MT_OK)
        *out = c;
    else
        mt_corpus_close(&c);
    return status;
}

void mt_corpus_close(mt_corpus *c)
{
    mt_tokenizer_free(c->tokenizer);
    free(c->ids);
    *c = (mt_corpus){ 0 };
}

static void empty_batch(mt_tensor **x, mt_tensor **y, int64_t B, int64_t T)
{
    *x = mt_empty(MT_SHAPE(B, T), MT_I32, MT_CPU);
    *y = mt_empty(MT_SHAPE(B, T), MT_I32, MT_CPU);
}

static void window(mt_tensor *x, mt_tensor *y, int64_t b, const int32_t *from, int64_t T)
{
    memcpy((int32_t *)mt_data(x) + b * T, from, (size_t)T * sizeof *from);
    memcpy((int32_t *)mt_data(y) + b * T, from + 1, (size_t)T * sizeof *from);
}

void mt_corpus_batch(mt_tensor **x, mt_tensor **y, const mt_corpus *c, uint64_t seed, int64_t step, int64_t B,
                     int64_t T)
{
    mt_rng all = mt_rng_new(seed, MT_STREAM_SHUFFLE), rng = mt_rng_substream(&all, (uint64_t)step);
    empty_batch(x, y, B, T);
    for (int64_t b = 0; b < B; b++)
        window(*x, *y, b, c->ids + mt_rng_below(&rng, c->train - T), T);
}

void mt_corpus_valid(mt_tensor **x, mt_tensor **y, const mt_corpus *c, int64_t index, int64_t count, int64_t B,
                     int64_t T)
{
    int64_t places = c->count - c->train - T, windows = count * B;
    empty_batch(x, y, B, T);
    for (int64_t b = 0; b < B; b++)
        window(*x, *y, b, c->ids + c->train + (index * B + b) * places / windows, T);
}

const char *mt_corpus_text(void)
{
    static char text[4096], standin[4096];
    const char *root = getenv("MT_DATA");
    if (!root || !*root)
        root = "datasets/cache";
    snprintf(text, sizeof text, "%s/shakespeare/tinyshakespeare.txt", root);
    snprintf(standin, sizeof standin, "%s/standin-text/tinyshakespeare.txt", root);
    return access(text, F_OK) < 0 && access(standin, F_OK) == 0 ? standin : text;
}
