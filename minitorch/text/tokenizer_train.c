/* tokenizer_train.c -- learning merges. A text has far fewer different pieces than pieces, so they are counted once; then
 * each merge touches only the pieces that hold it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/vocabulary.h"

/* A piece, however often it comes. */
typedef struct piece {
    const uint8_t *text;
    int64_t size;
    int32_t *symbol; /* [n], of them size at first */
    int64_t n, times;
} piece;

/* Two neighbours anywhere. Their count only falls once the merge that made them is over, so the heap may lag behind. */
typedef struct pair {
    int32_t left, right;
    int64_t times;
    int32_t *in; /* [places] pieces that hold it, or did */
    int64_t places, room;
} pair;

typedef struct entry {
    int64_t times; /* of the pair, when it was pushed */
    int32_t pair;
} entry;

typedef struct trainer {
    piece *pieces;
    int64_t count, piece_room;
    int32_t *piece_slot; /* by text: index + 1; 2^piece_bits */
    int piece_bits;
    pair *pairs;
    int64_t pair_count, pair_room;
    int32_t *pair_slot; /* by left and right: index + 1; 2^pair_bits */
    int pair_bits;
    entry *heap;
    int64_t heap_count, heap_room;
} trainer;

static void *grown(void *block, int64_t count, int64_t size)
{
    block = realloc(block, (size_t)(count * size));
    MT_CHECK(block, "out of memory");
    return block;
}

/* Room for one more: doubles. */
#define MAKE_ROOM(array, count, room)                                   \
    do {                                                                \
        if ((count) == (room)) {                                        \
            (room) = 2 * (room) + 16;                                   \
            (array) = grown((array), (room), (int64_t)sizeof *(array)); \
        }                                                               \
    } while (0)

/* ---- pieces ----------------------------------------------------------------------------------------- */

static uint64_t hash_text(const uint8_t *text, int64_t size)
{
    uint64_t hash = (uint64_t)size;
    for (int64_t i = 0; i < size; i++)
        hash = (hash ^ text[i]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static int32_t *piece_slot(const trainer *t, const uint8_t *text, int64_t size)
{
    uint64_t mask = (1ull << t->piece_bits) - 1, i = hash_text(text, size) & mask;
    for (; t->piece_slot[i]; i = (i + 1) & mask) {
        const piece *p = &t->pieces[t->piece_slot[i] - 1];
        if (p->size == size && memcmp(p->text, text, (size_t)size) == 0)
            break;
    }
    return &t->piece_slot[i];
}

static void more_piece_slots(trainer *t)
{
    free(t->piece_slot);
    t->piece_bits++;
    t->piece_slot = calloc(1ull << t->piece_bits, sizeof *t->piece_slot);
    MT_CHECK(t->piece_slot, "out of memory");
    for (int32_t i = 0; i < t->count; i++)
        *piece_slot(t, t->pieces[i].text, t->pieces[i].size) = i + 1;
}

static void count_piece(trainer *t, const uint8_t *text, int64_t size)
{
    if (2 * t->count >= 1ll << t->piece_bits)
        more_piece_slots(t);
    int32_t *slot = piece_slot(t, text, size);
    if (*slot == 0) {
        MAKE_ROOM(t->pieces, t->count, t->piece_room);
        piece *p = &t->pieces[t->count];
        *p = (piece){ .text = text, .size = size, .symbol = grown(NULL, size, sizeof *p->symbol), .n = size };
        for (int64_t i = 0; i < size; i++)
            p->symbol[i] = text[i];
        *slot = (int32_t)++t->count;
    }
    t->pieces[*slot - 1].times++;
}

/* ---- pairs ------------------------------------------------------------------------------------------ */

static int32_t *pair_slot(const trainer *t, int32_t left, int32_t right)
{
    uint64_t mask = (1ull << t->pair_bits) - 1;
    uint64_t i = ((uint64_t)left << 21 | (uint64_t)right) * 0x9e3779b97f4a7c15u >> (64 - t->pair_bits);
    while (t->pair_slot[i] &&
           (t->pairs[t->pair_slot[i] - 1].left != left || t->pairs[t->pair_slot[i] - 1].right != right))
        i = (i + 1) & mask;
    return &t->pair_slot[i];
}

static void more_pair_slots(trainer *t)
{
    free(t->pair_slot);
    t->pair_bits++;
    t->pair_slot = calloc(1ull << t->pair_bits, sizeof *t->pair_slot);
    MT_CHECK(t->pair_slot, "out of memory");
    for (int32_t i = 0; i < t->pair_count; i++)
        *pair_slot(t, t->pairs[i].left, t->pairs[i].right) = i + 1;
}

static pair *find_pair(trainer *t, int32_t left, int32_t right)
{
    if (2 * t->pair_count >= 1ll << t->pair_bits)
        more_pair_slots(t);
    int32_t *slot = pair_slot(t, left, right);
    if (*slot == 0) {
        MAKE_ROOM(t->pairs, t->pair_count, t->pair_room);
        t->pairs[t->pair_count] = (pair){ .left = left, .right = right };
        *slot = (int32_t)++t->pair_count;
    }
    return &t->pairs[*slot - 1];
}

/* Adds a piece's pairs, `sign` times as often as it comes. */
static void count_pairs(trainer *t, int32_t which, int64_t sign)
{
    const piece *p = &t->pieces[which];
    for (int64_t i = 0; i + 1 < p->n; i++) {
        pair *both = find_pair(t, p->symbol[i], p->symbol[i + 1]);
        both->times += sign * p->times;
        if (sign < 0 || (both->places > 0 && both->in[both->places - 1] == which))
            continue;
        MAKE_ROOM(both->in, both->places, both->room);
        both->in[both->places++] = which;
    }
}

/* ---- the most frequent pair --------------------------------------------------------------------------- */

static bool before(const trainer *t, entry a, entry b)
{
    const pair *p = &t->pairs[a.pair], *q = &t->pairs[b.pair];
    if (a.times != b.times)
        return a.times > b.times;
    return p->left != q->left ? p->left < q->left : p->right < q->right;
}

static void push(trainer *t, int32_t which)
{
    entry e = { t->pairs[which].times, which };
    MAKE_ROOM(t->heap, t->heap_count, t->heap_room);
    int64_t i = t->heap_count++;
    for (; i > 0 && before(t, e, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = e;
}

static entry pop(trainer *t)
{
    entry best = t->heap[0], e = t->heap[--t->heap_count];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < t->heap_count; i = child) {
        child += child + 1 < t->heap_count && before(t, t->heap[child + 1], t->heap[child]);
        if (!before(t, t->heap[child], e))
            break;
        t->heap[i] = t->heap[child];
    }
    t->heap[i] = e;
    return best;
}

/* The pair that comes most often, -1 when none comes twice. */
static int32_t most_frequent(trainer *t)
{
    while (t->heap_count > 0) {
        entry best = pop(t);
        if (best.times == t->pairs[best.pair].times)
            return best.times >= 2 ? best.pair : -1;
        push(t, best.pair);
    }
    return -1;
}

/* ---- merging ------------------------------------------------------------------------------------------- */

static void merge_in_piece(piece *p, int32_t left, int32_t right, int32_t made)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++) {
        bool here = i + 1 < p->n && p->symbol[i] == left && p->symbol[i + 1] == right;
        p->symbol[n++] = here ? made : p->symbol[i];
        i += here;
    }
    p->n = n;
}

/* Merge a pair wherever it is; the pairs that come about are new, and known to the heap only when all are counted. */
static void merge(trainer *t, int32_t which, int32_t made)
{
    int64_t first_new = t->pair_count;
    pair old = t->pairs[which]; /* the array may move */
    for (int64_t i = 0; i < old.places; i++) {
        count_pairs(t, old.in[i], -1);
        merge_in_piece(&t->pieces[old.in[i]], old.left, old.right, made);
        count_pairs(t, old.in[i], 1);
    }
    for (int64_t i = first_new; i < t->pair_count; i++)
        push(t, (int32_t)i);
}

static void trainer_free(trainer *t)
{
    for (int64_t i = 0; i < t->count; i++)
        free(t->pieces[i].symbol);
    for (int64_t i = 0; i < t->pair_count; i++)
        free(t->pairs[i].in);
    free(t->pieces);
    free(t->piece_slot);
    free(t->pairs);
    free(t->pair_slot);
    free(t->heap);
}

mt_tokenizer *mt_tokenizer_train(const uint8_t *text, int64_t size, int64_t vocabulary)
{
    trainer t = { 0 };
    mt_vocabulary *v = mt_vocabulary_new();
    MT_CHECK(vocabulary > MT_BYTES && vocabulary <= MT_MOST_SYMBOL, "a vocabulary of %" PRId64, vocabulary);
    more_piece_slots(&t);
    more_pair_slots(&t);
    for (int64_t at = 0, end; at < size; at = end) {
        end = mt_piece_end(text, size, at);
        count_piece(&t, text + at, end - at);
    }
    for (int32_t i = 0; i < t.count; i++)
        count_pairs(&t, i, 1);
    for (int32_t i = 0; i < t.pair_count; i++)
        push(&t, i);
    for (int32_t which; v->symbols < vocabulary - 1 && (which = most_frequent(&t)) >= 0;) {
        int32_t made = mt_vocabulary_merge(v, t.pairs[which].left, t.pairs[which].right);
        if (made != MT_NO_SYMBOL) /* else it is spelled like another: leave it unmerged */
            merge(&t, which, made);
    }
    trainer_free(&t);
    int32_t *id = grown(NULL, v->symbols, sizeof *id);
    for (int32_t s = 0; s < v->symbols; s++)
        id[s] = s;
    mt_tokenizer *tokenizer = mt_tokenizer_new(v, id, v->symbols + 1, (int32_t)v->symbols);
    free(id);
    return tokenizer;
}
