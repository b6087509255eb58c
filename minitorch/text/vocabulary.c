/* vocabulary.c -- the tables of symbols. */
#include "text/vocabulary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 << 10 };

static void *grown(void *block, int64_t size)
{
    block = realloc(block, (size_t)size);
    MT_CHECK(block, "out of memory");
    return block;
}

static uint64_t mask_of(const mt_vocabulary *v)
{
    return (1ull << v->bits) - 1;
}

/* FNV-1a, then its upper half folded in. */
static uint64_t hash_of(const uint8_t *bytes, int64_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* The slot of v->spelled where a spelling is or would be. */
static uint64_t spelled_slot(const mt_vocabulary *v, const uint8_t *bytes, int64_t size)
{
    uint64_t i = hash_of(bytes, size) & mask_of(v);
    for (; v->spelled[i]; i = (i + 1) & mask_of(v)) {
        int32_t s = v->spelled[i] - 1;
        if (mt_symbol_size(v, s) == size && memcmp(v->bytes + v->start[s], bytes, (size_t)size) == 0)
            break;
    }
    return i;
}

int32_t mt_vocabulary_find(const mt_vocabulary *v, const uint8_t *bytes, int64_t size)
{
    return v->spelled[spelled_slot(v, bytes, size)] - 1; /* MT_NO_SYMBOL is what 0 becomes */
}

static void put_pair(mt_vocabulary *v, int32_t symbol)
{
    uint64_t pair = (uint64_t)v->parts[symbol][0] << 21 | (uint64_t)v->parts[symbol][1];
    uint64_t i = pair * 0x9e3779b97f4a7c15u >> (64 - v->bits); /* as mt_merges_find looks for it */
    while (v->pair[i])
        i = (i + 1) & mask_of(v);
    v->pair[i] = pair << 21 | (uint64_t)symbol;
}

/* Room for one more symbol of so many bytes; the tables are made anew when they are half full. */
static void make_room(mt_vocabulary *v, int64_t size)
{
    if (v->symbols == v->room) {
        v->room = 2 * v->room;
        v->parts = grown(v->parts, v->room * (int64_t)sizeof *v->parts);
        v->start = grown(v->start, (v->room + 1) * (int64_t)sizeof *v->start);
    }
    if (v->start[v->symbols] + size > v->bytes_room) {
        v->bytes_room = 2 * v->bytes_room + size;
        v->bytes = grown(v->bytes, v->bytes_room);
    }
    if (2 * v->symbols < 1ll << v->bits)
        return;
    free(v->pair);
    free(v->spelled);
    v->bits++;
    v->pair = calloc(1ull << v->bits, sizeof *v->pair);
    v->spelled = calloc(1ull << v->bits, sizeof *v->spelled);
    MT_CHECK(v->pair && v->spelled, "out of memory");
    for (int32_t s = 0; s < v->symbols; s++) {
        v->spelled[spelled_slot(v, v->bytes + v->start[s], mt_symbol_size(v, s))] = s + 1;
        if (s >= MT_BYTES)
            put_pair(v, s);
    }
}

static int32_t append(mt_vocabulary *v, const uint8_t *bytes, int64_t size)
{
    int32_t symbol = (int32_t)v->symbols;
    make_room(v, size);
    memcpy(v->bytes + v->start[symbol], bytes, (size_t)size);
    v->start[symbol + 1] = v->start[symbol] + size;
    v->spelled[spelled_slot(v, bytes, size)] = symbol + 1;
    v->symbols++;
    return symbol;
}

mt_vocabulary *mt_vocabulary_new(void)
{
    mt_vocabulary *v = calloc(1, sizeof *v);
    MT_CHECK(v, "out of memory");
    *v = (mt_vocabulary){ .room = 2 * MT_BYTES, .bytes_room = 4 * MT_BYTES, .bits = 8 };
    v->parts = grown(NULL, v->room * (int64_t)sizeof *v->parts);
    v->start = grown(NULL, (v->room + 1) * (int64_t)sizeof *v->start);
    v->bytes = grown(NULL, v->bytes_room);
    v->pair = calloc(1ull << v->bits, sizeof *v->pair);
    v->spelled = calloc(1ull << v->bits, sizeof *v->spelled);
    MT_CHECK(v->pair && v->spelled, "out of memory");
    v->start[0] = 0;
    for (int b = 0; b < MT_BYTES; b++)
        append(v, &(uint8_t){ (uint8_t)b }, 1);
    return v;
}

void mt_vocabulary_free(mt_vocabulary *v)
{
    if (!v)
        return;
    free(v->parts);
    free(v->start);
    free(v->bytes);
    free(v->pair);
    free(v->spelled);
    free(v);
}

int32_t mt_vocabulary_merge(mt_vocabulary *v, int32_t left, int32_t right)
{
    static _Thread_local uint8_t both[LONGEST];
    int64_t first = mt_symbol_size(v, left), second = mt_symbol_size(v, right);
    if (first + second > LONGEST || v->symbols == MT_MOST_SYMBOL)
        return MT_NO_SYMBOL;
    memcpy(both, v->bytes + v->start[left], (size_t)first);
    memcpy(both + first, v->bytes + v->start[right], (size_t)second);
    if (mt_vocabulary_find(v, both, first + second) != MT_NO_SYMBOL)
        return MT_NO_SYMBOL;
    int32_t symbol = append(v, both, first + second);
    v->parts[symbol][0] = left;
    v->parts[symbol][1] = right;
    put_pair(v, symbol);
    return symbol;
}

/* ---- long pieces -------------------------------------------------------------------------------- */

/* Two neighbours: what they make, and the place of the left one. The least is merged next. */
typedef struct neighbours {
    int32_t made;
    int64_t at;
} neighbours;

typedef struct heap {
    neighbours *item;
    int64_t count;
} heap;

static bool before(neighbours a, neighbours b)
{
    return a.made != b.made ? a.made < b.made : a.at < b.at;
}

static void heap_push(heap *h, neighbours n)
{
    int64_t i = h->count++;
    for (; i > 0 && before(n, h->item[(i - 1) / 2]); i = (i - 1) / 2)
        h->item[i] = h->item[(i - 1) / 2];
    h->item[i] = n;
}

static neighbours heap_pop(heap *h)
{
    neighbours least = h->item[0], n = h->item[--h->count];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < h->count; i = child) {
        child += child + 1 < h->count && before(h->item[child + 1], h->item[child]);
        if (!before(h->item[child], n))
            break;
        h->item[i] = h->item[child];
    }
    h->item[i] = n;
    return least;
}

/* The piece as a list: next[i] and last[i] are the places of the symbols beside place i. */
typedef struct chain {
    int32_t *symbol;
    int64_t *next, *last, n;
    heap heap;
    const mt_merges *merges;
} chain;

static void consider(chain *c, int64_t at)
{
    int32_t made = MT_NO_MERGE;
    if (at >= 0 && c->next[at] < c->n)
        made = mt_merges_find(c->merges, c->symbol[at], c->symbol[c->next[at]]);
    if (made != MT_NO_MERGE)
        heap_push(&c->heap, (neighbours){ made, at });
}

/* A pair that the heap remembers is gone when its places have other symbols now; the place of a right one has none, -1. */
static void merge_chain(chain *c)
{
    for (int64_t i = 0; i < c->n; i++)
        consider(c, i);
    while (c->heap.count > 0) {
        neighbours least = heap_pop(&c->heap);
        int64_t at = least.at, right = c->next[at];
        if (c->symbol[at] < 0 || right >= c->n ||
            mt_merges_find(c->merges, c->symbol[at], c->symbol[right]) != least.made)
            continue;
        c->symbol[at] = least.made;
        c->symbol[right] = -1;
        c->next[at] = c->next[right];
        if (c->next[at] < c->n)
            c->last[c->next[at]] = at;
        consider(c, c->last[at]);
        consider(c, at);
    }
}

int64_t mt_merge_long(int32_t *symbol, int64_t n, const mt_merges *merges)
{
    int64_t left = 0;
    chain c = { .symbol = symbol, .n = n, .merges = merges };
    c.next = calloc((size_t)(2 * n + 1), sizeof *c.next);
    c.heap.item = calloc((size_t)(3 * n + 1), sizeof *c.heap.item); /* n at first, two more for each of n - 1 merges */
    MT_CHECK(c.next && c.heap.item, "out of memory");
    c.last = c.next + n;
    for (int64_t i = 0; i < n; i++) {
        c.next[i] = i + 1;
        c.last[i] = i - 1;
    }
    merge_chain(&c);
    for (int64_t i = 0; i < n; i++)
        if (symbol[i] >= 0)
            symbol[left++] = symbol[i];
    free(c.next);
    free(c.heap.item);
    return left;
}
