/* choose.c -- blocks are decided one after the other. Only two numbers of what was decided before block i
 * matter to what follows: the bytes that are kept so far and the FLOPs so far. A state with more of one and not less of
 * the other than another state is useless, and removed; the rest is a staircase:
 *
 *     FLOPs |*                      each step to the right keeps more bytes
 *           |   *                   and has fewer FLOPs
 *           |      *  *
 *           +------------- kept
 *
 * A block turns each state into one for each of its options. */
#include "memory/choose.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct state {
    int64_t kept, flops; /* of the blocks decided so far */
    int64_t before;      /* the state from which this one was made */
    int option;          /* and how */
} state;

/* The states after 0, 1, 2, ... blocks: one layer behind the other. */
typedef struct table {
    state *state;
    int64_t count, room;
} table;

static void append(table *t, state s)
{
    if (t->count == t->room) {
        t->room = mt_max(64, 2 * t->room);
        t->state = realloc(t->state, (size_t)t->room * sizeof *t->state);
        MT_CHECK(t->state, "out of memory");
    }
    t->state[t->count++] = s;
}

/* By kept bytes, then by FLOPs, then by what was made first: an order without ties. */
static int by_kept(const void *a, const void *b)
{
    const state *s = a, *t = b;
    if (s->kept != t->kept)
        return s->kept < t->kept ? -1 : 1;
    if (s->flops != t->flops)
        return s->flops < t->flops ? -1 : 1;
    if (s->before != t->before)
        return s->before < t->before ? -1 : 1;
    return s->option - t->option;
}

/* Bytes that the block needs with this option beyond those kept so far; least: what the blocks behind it need. */
static int64_t need(const mt_memory_option *o, int64_t least)
{
    /* LAB 10.5 BEGIN  Either this block's backward has the peak or one of those behind it; both have its kept bytes. */
    return o->kept + mt_max(o->work, least);
    /* LAB 10.5 END */
}

/* least [count + 1]: what blocks i .. count-1 need beyond the bytes kept so far. */
static void fill_least(int64_t *least, const mt_memory_block *blocks, int64_t count)
{
    /* LAB 10.5 BEGIN  From the last block to the first: the option that needs least.
     * Hint: behind the last block nothing is needed. What is kept before a block is added to each option alike, so the
     * best option does not depend on it. */
    least[count] = 0;
    for (int64_t i = count - 1; i >= 0; i--) {
        least[i] = INT64_MAX;
        for (int k = 0; k < blocks[i].options; k++)
            least[i] = mt_min(least[i], need(&blocks[i].option[k], least[i + 1]));
    }
    /* LAB 10.5 END */
}

int64_t mt_memory_least(const mt_memory_block *blocks, int64_t count)
{
    int64_t *least = malloc((size_t)(count + 1) * sizeof *least);
    MT_CHECK(least, "out of memory");
    fill_least(least, blocks, count);
    int64_t answer = least[0];
    free(least);
    return answer;
}

/* Append what block b makes of the states from `first` to `last`; least: what the blocks behind it need. */
static void extend(table *t, int64_t first, int64_t last, const mt_memory_block *b, int64_t least, int64_t budget)
{
    /* LAB 10.5 BEGIN  Every state with every option that stays within the budget.
     * Hint: t->state moves when the table grows: copy a state before append. */
    for (int64_t i = first; i < last; i++)
        for (int k = 0; k < b->options; k++) {
            const mt_memory_option *o = &b->option[k];
            state s = t->state[i];
            if (s.kept + need(o, least) <= budget)
                append(t, (state){ s.kept + o->kept, s.flops + o->flops, i, k });
        }
    /* LAB 10.5 END */
}

/* Remove states of the last layer, which begins at `first`, that another one beats or equals in both numbers. */
static void thin(table *t, int64_t first)
{
    qsort(t->state + first, (size_t)(t->count - first), sizeof *t->state, by_kept);
    /* LAB 10.5 BEGIN  In this order of kept bytes, a state is useful if it has fewer FLOPs than all before it. */
    int64_t kept = first;
    for (int64_t i = first; i < t->count; i++)
        if (kept == first || t->state[i].flops < t->state[kept - 1].flops)
            t->state[kept++] = t->state[i];
    t->count = kept;
    /* LAB 10.5 END */
}

/* The options of one of the last states, and the peak that they give. */
static mt_memory_choice read_back(int *option, const table *t, const mt_memory_block *blocks, int64_t count)
{
    mt_memory_choice choice = { 0 };
    /* LAB 10.5 BEGIN  The state with the fewest FLOPs of the last layer, and the states it was made from.
     * Hint: its option is that of the last block, its `before` has that of the one before. At a block, the bytes kept
     * of it and of those before it are its state's. */
    const state *s = &t->state[t->count - 1];
    choice.kept = s->kept;
    choice.flops = s->flops;
    for (int64_t i = count - 1; i >= 0; i--, s = &t->state[s->before]) {
        option[i] = s->option;
        choice.peak = mt_max(choice.peak, s->kept + blocks[i].option[s->option].work);
    }
    /* LAB 10.5 END */
    return choice;
}

mt_status mt_memory_choose(mt_memory_choice *out, int *option, const mt_memory_block *blocks, int64_t count,
                           int64_t budget)
{
    int64_t *least = malloc((size_t)(count + 1) * sizeof *least), first = 0;
    table t = { 0 };
    mt_status status = MT_OK;
    MT_CHECK(least, "out of memory");
    fill_least(least, blocks, count);
    if (least[0] > budget) {
        status = mt_fail(MT_ERR_ARGUMENT, "a budget of %" PRId64 " bytes is too small: the least is %" PRId64, budget,
                         least[0]);
    } else {
        append(&t, (state){ 0 });
        for (int64_t i = 0; i < count; i++) {
            int64_t last = t.count;
            extend(&t, first, last, &blocks[i], least[i + 1], budget);
            thin(&t, last);
            first = last;
        }
        *out = read_back(option, &t, blocks, count);
    }
    free(t.state);
    free(least);
    return status;
}
