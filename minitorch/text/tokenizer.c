/* tokenizer.c -- a vocabulary with ids, and encoders over it. */
#include "text/tokenizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/vocabulary.h"

enum { SHORT_PIECE = 64 }; /* bytes; longer ones go to the heap */

struct mt_tokenizer {
    mt_vocabulary *symbols;
    mt_merges merges; /* its pairs */
    int32_t *id;      /* [symbols] */
    int64_t count;    /* of ids */
    int32_t end_of_text;
    mt_spelling spelling;
};

struct mt_encoder {
    const mt_tokenizer *tokenizer;
    mt_word *words;  /* [MT_WORDS] */
    int32_t *symbol; /* a piece being merged */
    int64_t room;    /* of it */
};

static void *zeros(int64_t count, int64_t size)
{
    void *block = calloc((size_t)mt_max(count, 1), (size_t)size);
    MT_CHECK(block, "out of memory");
    return block;
}

/* ---- vocabularies --------------------------------------------------------------------------------- */

/* Copies spellings from the order of symbols into the order of ids. */
static mt_spelling spell(const mt_tokenizer *t)
{
    const mt_vocabulary *v = t->symbols;
    const uint8_t **text = zeros(t->count, sizeof *text);
    int64_t *start = zeros(t->count + 1, sizeof *start), total = 0;
    for (int32_t s = 0; s < v->symbols; s++) {
        int32_t id = t->id[s];
        if (id == -1)
            continue;
        MT_CHECK(id >= 0 && id < t->count && !text[id], "id %d of %" PRId64 " twice or out of range", id, t->count);
        text[id] = v->bytes + v->start[s];
        start[id] = mt_symbol_size(v, s);
    }
    if (t->end_of_text >= 0) {
        MT_CHECK(t->end_of_text < t->count && !text[t->end_of_text], "the id of " MT_END_OF_TEXT " is taken");
        text[t->end_of_text] = (const uint8_t *)MT_END_OF_TEXT;
        start[t->end_of_text] = sizeof MT_END_OF_TEXT - 1;
    }
    for (int64_t i = 0; i <= t->count; i++) { /* lengths become places */
        int64_t length = start[i];
        start[i] = total;
        total += length;
    }
    uint8_t *bytes = zeros(total, 1);
    for (int64_t i = 0; i < t->count; i++)
        if (text[i])
            memcpy(bytes + start[i], text[i], (size_t)(start[i + 1] - start[i]));
    free(text);
    return (mt_spelling){ bytes, start, t->count };
}

mt_tokenizer *mt_tokenizer_new(mt_vocabulary *v, const int32_t *id, int64_t count, int32_t end_of_text)
{
    mt_tokenizer *t = zeros(1, sizeof *t);
    *t = (mt_tokenizer){ .symbols = v, .merges = { v->pair, v->bits }, .count = count, .end_of_text = end_of_text };
    t->id = zeros(v->symbols, sizeof *t->id);
    memcpy(t->id, id, (size_t)v->symbols * sizeof *id);
    t->spelling = spell(t);
    return t;
}

void mt_tokenizer_free(mt_tokenizer *t)
{
    if (!t)
        return;
    mt_vocabulary_free(t->symbols);
    free(t->id);
    free((void *)t->spelling.bytes);
    free((void *)t->spelling.start);
    free(t);
}

const mt_vocabulary *mt_tokenizer_symbols(const mt_tokenizer *t)
{
    return t->symbols;
}

const int32_t *mt_tokenizer_ids(const mt_tokenizer *t)
{
    return t->id;
}

int64_t mt_tokenizer_count(const mt_tokenizer *t)
{
    return t->count;
}

int32_t mt_tokenizer_end_of_text(const mt_tokenizer *t)
{
    return t->end_of_text;
}

const mt_spelling *mt_tokenizer_spelling(const mt_tokenizer *t)
{
    return &t->spelling;
}

/* ---- encoding -------------------------------------------------------------------------------------- */

mt_encoder *mt_encoder_new(const mt_tokenizer *t)
{
    mt_encoder *e = zeros(1, sizeof *e);
    *e = (mt_encoder){ .tokenizer = t, .words = aligned_alloc(64, MT_WORDS * sizeof *e->words), .room = SHORT_PIECE };
    MT_CHECK(e->words, "out of memory");
    memset(e->words, 0, MT_WORDS * sizeof *e->words);
    e->symbol = zeros(e->room, sizeof *e->symbol);
    return e;
}

void mt_encoder_free(mt_encoder *e)
{
    if (!e)
        return;
    free(e->words);
    free(e->symbol);
    free(e);
}

/* A piece of any length through the merges. Returns how many ids it has, -1 when a byte of it has none. */
static int64_t merge_piece(mt_encoder *e, int32_t *ids, const uint8_t *piece, int64_t size)
{
    const mt_tokenizer *t = e->tokenizer;
    if (size > e->room) {
        free(e->symbol);
        e->room = 2 * size;
        e->symbol = zeros(e->room, sizeof *e->symbol);
    }
    for (int64_t i = 0; i < size; i++)
        e->symbol[i] = piece[i];
    int64_t n =
        size <= SHORT_PIECE ? mt_bpe_merge(e->symbol, size, &t->merges) : mt_merge_long(e->symbol, size, &t->merges);
    for (int64_t i = 0; i < n; i++) {
        ids[i] = t->id[e->symbol[i]];
        if (ids[i] < 0)
            return -1;
    }
    return n;
}

/* The piece at `at` as a key: 16 bytes are read at once where the text has them, and those behind the piece cleared. */
static void key_of(uint64_t key[2], const uint8_t *text, int64_t size, int64_t at, int64_t length)
{
    uint64_t half[2] = { 0, 0 };
    if (at + 16 <= size)
        memcpy(half, text + at, 16);
    else
        memcpy(half, text + at, (size_t)length);
    bool low = length < 8;
    uint64_t mask = (1ull << 8 * (length & 7)) - 1;
    key[0] = low ? half[0] & mask : half[0];
    key[1] = (low ? 0 : half[1] & mask) | (uint64_t)length << 56;
}

/* As merge_piece, for the pieces that can be remembered. `room`: of ids; with enough of it they are copied at once. */
static int64_t look_up(mt_encoder *e, int32_t *ids, int64_t room, const uint64_t key[2], const uint8_t *piece,
                       int64_t size)
{
    mt_word *word = mt_word_slot(e->words, key);
    if (word->key[0] != key[0] || word->key[1] != key[1]) {
        int64_t n = merge_piece(e, ids, piece, size);
        if (n < 0 || n > MT_WORD_IDS)
            return n;
        *word = (mt_word){ { key[0], key[1] }, (int32_t)n, { 0 } };
        memcpy(word->id, ids, (size_t)n * sizeof *ids);
        return n;
    }
    if (room >= MT_WORD_IDS)
        memcpy(ids, word->id, sizeof word->id);
    else
        memcpy(ids, word->id, (size_t)word->count * sizeof *ids);
    return word->count;
}

static mt_status no_token(const uint8_t *text, int64_t size, int64_t at)
{
    char hex[3 * 8 + 1] = "";
    for (int64_t i = at; i < mt_min(size, at + 8); i++)
        snprintf(hex + 3 * (i - at), 4, " %02x", text[i]);
    return mt_fail(MT_ERR_FORMAT, "offset %" PRId64 ": the vocabulary lacks a character of this piece:%s", at, hex);
}

mt_status mt_encode(mt_encoder *e, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size)
{
    int64_t n = 0;
    for (int64_t at = 0, end; at < size; at = end) {
        uint64_t key[2];
        int64_t made;
        end = mt_piece_end(text, size, at);
        if (end - at <= MT_WORD_BYTES) {
            key_of(key, text, size, at, end - at);
            made = look_up(e, ids + n, size - n, key, text + at, end - at);
        } else {
            made = merge_piece(e, ids + n, text + at, end - at);
        }
        if (made < 0)
            return no_token(text, end, at);
        n += made;
    }
    *count = n;
    return MT_OK;
}

mt_status mt_encode_special(mt_encoder *e, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size)
{
    static const char special[] = MT_END_OF_TEXT;
    const int64_t length = sizeof special - 1;
    int64_t n = 0, made = 0;
    MT_CHECK(e->tokenizer->end_of_text >= 0, "this vocabulary has no " MT_END_OF_TEXT);
    for (int64_t at = 0; at < size;) {
        const uint8_t *found = memmem(text + at, (size_t)(size - at), special, (size_t)length);
        int64_t end = found ? found - text : size;
        mt_status status = mt_encode(e, ids + n, &made, text + at, end - at);
        if (status != MT_OK)
            return status;
        n += made;
        if (found)
            ids[n++] = e->tokenizer->end_of_text;
        at = end + (found ? length : 0);
    }
    *count = n;
    return MT_OK;
}

static bool white(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Before white space that follows something else, a piece always ends: none but white space's own contains any behind its
 * first character. */
int64_t mt_encode_cut(const uint8_t *text, int64_t size, int64_t at)
{
    for (at = mt_max(at, 1); at < size; at++)
        if (white(text[at]) && text[at - 1] < 128 && !white(text[at - 1]))
            return at;
    return size;
}

/* ---- decoding --------------------------------------------------------------------------------------- */

mt_status mt_decode(uint8_t **text, int64_t *size, const mt_tokenizer *t, const int32_t *ids, int64_t count)
{
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= t->count)
            return mt_fail(MT_ERR_FORMAT, "token %" PRId64 " is %d, the vocabulary has %" PRId64, i, ids[i], t->count);
        total += t->spelling.start[ids[i] + 1] - t->spelling.start[ids[i]];
    }
    uint8_t *out = zeros(total + 1, 1);
    *size = mt_bpe_decode(out, ids, count, &t->spelling);
    *text = out;
    return MT_OK;
}
