/* corpus.c -- text into tokens, or tokens from a mapped file; both as two sets of windows. */
#include "train/corpus.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- a text --------------------------------------------------------------------------------------------- */

static mt_status encode(mt_corpus *c)
{
    c->ids = malloc((size_t)(c->file.size + 1) * sizeof *c->ids);
    MT_CHECK(c->ids, "out of memory");
    mt_encoder *encoder = mt_encoder_new(c->tokenizer);
    c->tokens = (mt_tokens){ .data = (const uint8_t *)c->ids, .size = sizeof *c->ids };
    mt_status status = mt_encode(encoder, c->ids, &c->tokens.count, c->file.bytes, c->file.size);
    mt_encoder_free(encoder);
    return status;
}

static mt_status open_text(mt_corpus *c, const char *dir)
{
    mt_status status = dir ? mt_tokenizer_open(&c->tokenizer, dir)
                           : mt_tokenizer_characters(&c->tokenizer, c->file.bytes, c->file.size);
    return status == MT_OK ? encode(c) : status;
}

/* ---- a token file ---------------------------------------------------------------------------------------- */

static int32_t token(const mt_tokens *t, int64_t i)
{
    return t->size == 2 ? ((const uint16_t *)t->data)[i] : ((const int32_t *)t->data)[i];
}

/* All ids are looked at before training begins: the wrong one may be the last. */
static mt_status check_ids(const mt_corpus *c)
{
    int64_t limit = mt_tokenizer_count(c->tokenizer);
    for (int64_t i = 0; i < c->tokens.count; i++) {
        int32_t id = token(&c->tokens, i);
        if (id < 0 || id >= limit)
            return mt_fail(MT_ERR_FORMAT,
                           "%s: offset %" PRId64 ": token %d, but the vocabulary has %" PRId64 ": it is another's",
                           c->file.path, MT_TOKENS_HEADER + i * c->tokens.size, id, limit);
    }
    return MT_OK;
}

/* Whether text, which these ids spell, is encoded as they are, up to the last place where it can be cut. */
static bool encodes_to(const mt_tokenizer *tokenizer, const uint8_t *text, int64_t size, const int32_t *ids, int64_t n)
{
    int64_t cut = 0, made = 0;
    for (int64_t next = 0; (next = mt_encode_cut(text, size, next + 1)) < size;)
        cut = next;
    int32_t *again = malloc((size_t)(cut + 1) * sizeof *again);
    MT_CHECK(again, "out of memory");
    mt_encoder *encoder = mt_encoder_new(tokenizer);
    bool same = mt_encode(encoder, again, &made, text, cut) == MT_OK && made <= n &&
                memcmp(again, ids, (size_t)made * sizeof *ids) == 0;
    mt_encoder_free(encoder);
    free(again);
    return same;
}

/* A token file does not say whose its ids are, but encoding is one to one: spelled by the vocabulary that made them and
 * encoded again they come out the same; by another, hardly ever. Tried on the beginning of the first document. */
static mt_status check_vocabulary(const mt_corpus *c, const char *dir)
{
    enum { TRIED = 4096 };
    int32_t ids[TRIED], separator = mt_tokenizer_end_of_text(c->tokenizer);
    int64_t at = 0, n = 0, size;
    uint8_t *text;
    while (at < c->tokens.count && token(&c->tokens, at) == separator)
        at++;
    for (; at < c->tokens.count && n < TRIED && token(&c->tokens, at) != separator; at++)
        ids[n++] = token(&c->tokens, at);
    mt_status status = mt_decode(&text, &size, c->tokenizer, ids, n);
    if (status != MT_OK)
        return status;
    if (!encodes_to(c->tokenizer, text, size, ids, n))
        status = mt_fail(MT_ERR_FORMAT, "%s was not made with the vocabulary in %s: its text would have other tokens",
                         c->file.path, dir);
    free(text);
    return status;
}

static mt_status open_tokens(mt_corpus *c, const char *dir)
{
    if (!dir)
        return mt_fail(MT_ERR_ARGUMENT, "%s is a token file: it needs the vocabulary that made it (--vocab)",
                       c->file.path);
    mt_status status = mt_tokens_read(&c->tokens, c->file.path, c->file.bytes, c->file.size);
    if (status == MT_OK)
        status = mt_tokenizer_open(&c->tokenizer, dir);
    if (status == MT_OK)
        status = check_ids(c);
    return status == MT_OK ? check_vocabulary(c, dir) : status;
}

/* ---- either ------------------------------------------------------------------------------------------------ */

static mt_status split(mt_corpus *c, int64_t T)
{
    c->count = c->tokens.count;
    c->train = c->count * 9 / 10;
    if (mt_min(c->train, c->count - c->train) < T + 1)
        return mt_fail(MT_ERR_FORMAT, "%s: %" PRId64 " tokens are too few: a tenth must hold %" PRId64, c->file.path,
                       c->count, T + 1);
    c->first = token(&c->tokens, 0);
    mt_tokens train = c->tokens, valid = c->tokens;
    train.count = c->train;
    valid.count -= c->train;
    valid.data += c->train * valid.size;
    c->train_set = mt_token_windows_new(&train, T, 1);
    c->valid_set = mt_token_windows_new(&valid, T, 1);
    return MT_OK;
}

mt_status mt_corpus_open(mt_corpus *out, const char *path, const char *dir, int64_t T)
{
    mt_corpus c = { 0 };
    mt_status status = mt_file_map_open(&c.file, path);
    if (status != MT_OK)
        return status;
    bool mapped = c.file.size >= 8 && memcmp(c.file.bytes, "MTTOKENS", 8) == 0;
    status = mapped ? open_tokens(&c, dir) : open_text(&c, dir);
    if (status == MT_OK)
        status = split(&c, T);
    if (!mapped)
        mt_file_map_close(&c.file);
    if (status == MT_OK)
        *out = c;
    else
        mt_corpus_close(&c);
    return status;
}

void mt_corpus_close(mt_corpus *c)
{
    mt_dataset_close(c->train_set);
    mt_dataset_close(c->valid_set);
    mt_tokenizer_free(c->tokenizer);
    mt_file_map_close(&c->file);
    free(c->ids);
    *c = (mt_corpus){ 0 };
}

const char *mt_corpus_text(void)
{
    static char path[MT_PATH];
    mt_data_find(path, "shakespeare/tinyshakespeare.txt", "standin-text/tinyshakespeare.txt");
    return path;
}
