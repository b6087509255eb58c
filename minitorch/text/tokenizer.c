/* tokenizer.c -- encoding: a cache of pieces, merges, and a heap for long pieces. */
#include "text/tokenizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/heap.h"

enum { SHORT_PIECE = 64 }; /* bytes; longer ones go to the heap */

struct mt_tokenizer {
    const mt_vocabulary *vocabulary;
    mt_merges merges;
    int32_t byte_id[MT_BYTES];
};

struct mt_encoder {
    const mt_tokenizer *tokenizer;
    mt_word *words;  /* [MT_WORDS] */
    int32_t *symbol; /* [room] a piece being merged */
    int64_t room;
};

/* ---- merges ----------------------------------------------------------------------------------------- */

mt_merges mt_merges_new(const mt_vocabulary *v)
{
    int bits = 8;
    while (1ll << bits < 2 * v->token.count)
        bits++;
    uint64_t *slot = mt_calloc(1ll << bits, sizeof *slot), mask = (1ull << bits) - 1;
    for (int64_t id = MT_BYTES; id < v->token.count && id != v->end_of_text && !v->characters; id++) {
        uint64_t left = (uint64_t)mt_id_symbol(v, v->parts[id][0]), right = (uint64_t)mt_id_symbol(v, v->parts[id][1]);
        uint64_t pair = left << 21 | right, i = pair * 0x9e3779b97f4a7c15u >> (64 - bits); /* as mt_merges_find */
        while (slot[i])
            i = (i + 1) & mask;
        slot[i] = pair << 21 | (uint64_t)id;
    }
    return (mt_merges){ slot, bits };
}

/* A piece as a list: next[i] and last[i] are the places of the symbols beside the one at place i. The heap holds places
 * whose symbol and the next make another, by what they make, then by place; also pairs that are gone. */
typedef struct chain {
    int32_t *symbol; /* -1: merged into the one on its left */
    int64_t *next, *last, n;
    mt_heap heap;
    const mt_merges *merges;
} chain;

static int32_t made_at(const chain *c, int64_t at)
{
    if (at < 0 || c->symbol[at] < 0 || c->next[at] >= c->n)
        return MT_NO_MERGE;
    return mt_merges_find(c->merges, c->symbol[at], c->symbol[c->next[at]]);
}

static void consider(chain *c, int64_t at)
{
    int32_t made = made_at(c, at);
    if (made != MT_NO_MERGE)
        mt_heap_push(&c->heap, made, at);
}

int64_t mt_bpe_merge_long(int32_t *symbol, int64_t n, const mt_merges *merges)
{
    int64_t left = 0;
    chain c = { .symbol = symbol, .n = n, .merges = merges };
    c.next = mt_calloc(2 * n, sizeof *c.next);
    c.last = c.next + n;
    for (int64_t i = 0; i < n; i++) {
        c.next[i] = i + 1;
        c.last[i] = i - 1;
    }
    for (int64_t i = 0; i < n; i++)
        consider(&c, i);
    while (c.heap.count > 0) {
        mt_heap_item least = mt_heap_pop(&c.heap);
        int64_t at = least.second, right = c.next[at];
        if (made_at(&c, at) != least.first)
            continue;
        symbol[at] = (int32_t)least.first;
        symbol[right] = -1;
        c.next[at] = c.next[right];
        if (c.next[at] < n)
            c.last[c.next[at]] = at;
        consider(&c, c.last[at]);
        consider(&c, at);
    }
    for (int64_t i = 0; i < n; i++)
        if (symbol[i] >= 0)
            symbol[left++] = symbol[i];
    free(c.next);
    free(c.heap.item);
    return left;
}

/* ---- tokenizers and encoders ------------------------------------------------------------------------ */

mt_tokenizer *mt_tokenizer_new(const mt_vocabulary *v)
{
    mt_tokenizer *t = mt_calloc(1, sizeof *t);
    t->vocabulary = v;
    t->merges = mt_merges_new(v);
    for (int32_t b = 0; b < MT_BYTES; b++)
        t->byte_id[b] = mt_symbol_id(v, b);
    return t;
}

void mt_tokenizer_free(mt_tokenizer *t)
{
    if (t)
        free((void *)t->merges.slot);
    free(t);
}

mt_encoder *mt_encoder_new(const mt_tokenizer *t)
{
    mt_encoder *e = mt_calloc(1, sizeof *e);
    *e = (mt_encoder){
        .tokenizer = t,
        .words = aligned_alloc(64, MT_WORDS * sizeof *e->words),
    };
    MT_CHECK(e->words, "out of memory");
    memset(e->words, 0, MT_WORDS * sizeof *e->words);
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

/* ---- encoding ----------------------------------------------------------------------------------------- */

/* The ids of a piece, by merging. Returns how many there are. */
static int64_t merge_piece(mt_encoder *e, int32_t *ids, const uint8_t *piece, int64_t size)
{
    const mt_tokenizer *t = e->tokenizer;
    e->symbol = mt_grown(e->symbol, &e->room, size, sizeof *e->symbol);
    for (int64_t i = 0; i < size; i++)
        e->symbol[i] = piece[i];
    int64_t n = size <= SHORT_PIECE ? mt_bpe_merge(e->symbol, size, &t->merges)
                                    : mt_bpe_merge_long(e->symbol, size, &t->merges);
    for (int64_t i = 0; i < n; i++)
        ids[i] = e->symbol[i] < MT_BYTES ? t->byte_id[e->symbol[i]] : e->symbol[i];
    return n;
}

/* The key of the piece at `at`: 16 bytes are read at once if the text has them, and those after the piece cleared. */
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

/* As merge_piece, for pieces that can be cached. With room for MT_WORD_IDS ids, all of them are copied at once. */
static int64_t look_up(mt_encoder *e, int32_t *ids, int64_t room, const uint64_t key[2], const uint8_t *piece,
                       int64_t size)
{
    mt_word *word = mt_word_slot(e->words, key);
    if (word->key[0] != key[0] || word->key[1] != key[1]) {
        int64_t n = merge_piece(e, ids, piece, size);
        if (n > MT_WORD_IDS)
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

mt_status mt_encode(mt_encoder *e, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size)
{
    int64_t n = 0;
    if (e->tokenizer->vocabulary->characters)
        return mt_encode_characters(ids, count, e->tokenizer->vocabulary, text, size);
    for (int64_t at = 0, end; at < size; at = end) {
        uint64_t key[2];
        end = mt_piece_end(text, size, at);
        if (end - at <= MT_WORD_BYTES) {
            key_of(key, text, size, at, end - at);
            n += look_up(e, ids + n, size - n, key, text + at, end - at);
        } else {
            n += merge_piece(e, ids + n, text + at, end - at);
        }
    }
    *count = n;
    return MT_OK;
}

mt_status mt_encode_special(mt_encoder *e, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size)
{
    static const char special[] = MT_END_OF_TEXT;
    const int64_t length = sizeof special - 1;
    int64_t n = 0, made = 0;
    int32_t end_of_text = e->tokenizer->vocabulary->end_of_text;
    MT_CHECK(end_of_text >= 0, "this vocabulary has no " MT_END_OF_TEXT);
    for (int64_t at = 0; at < size;) {
        const uint8_t *found = memmem(text + at, (size_t)(size - at), special, (size_t)length);
        int64_t end = found ? found - text : size;
        MT_TRY(mt_encode(e, ids + n, &made, text + at, end - at));
        n += made;
        if (found)
            ids[n++] = end_of_text;
        at = end + (found ? length : 0);
    }
    *count = n;
    return MT_OK;
}

static bool white(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* A piece always ends before white space that follows something else: only pieces of white space contain any after
 * their first character. */
int64_t mt_encode_cut(const uint8_t *text, int64_t size, int64_t at)
{
    for (at = mt_max(at, 1); at < size; at++)
        if (white(text[at]) && text[at - 1] < 128 && !white(text[at - 1]))
            return at;
    return size;
}
