/* 10-scripts.c -- the scripts of the pool's rows (10-pool.h): what each row allocates and frees. */
#include "checks/10-pool.h"
#include "checks/fill.h"

#include <stdlib.h>

#define KIB    ((int64_t)1 << 10)
#define MIB    ((int64_t)1 << 20)
#define GIB4   ((int64_t)4 << 30)
#define PLENTY ((int64_t)1 << 50)

enum { HELD = 64 /* live blocks of most scripts */, MOST = 1024 };

/* A script that is being written, and its live blocks: the events that allocated them. */
typedef struct writer {
    pool_script s;
    mt_rng *rng;
    int64_t held[MOST];
    int count;
} writer;

static void alloc(writer *w, int64_t bytes)
{
    w->held[w->count++] = mg_pool_add(&w->s, MG_POOL_ALLOC, bytes);
}

/* Free the i-th live block; the others keep their order. */
static void release(writer *w, int i)
{
    mg_pool_add(&w->s, MG_POOL_FREE, w->held[i]);
    w->count--;
    for (; i < w->count; i++)
        w->held[i] = w->held[i + 1];
}

static void release_any(writer *w, int left)
{
    while (w->count > left)
        release(w, (int)mt_rng_below(w->rng, w->count));
}

static void trim(writer *w)
{
    mg_pool_add(&w->s, MG_POOL_EMPTY, 0);
}

static void alloc_some(writer *w, int n, int64_t low, int64_t high)
{
    for (int i = 0; i < n; i++)
        alloc(w, mg_pick(w->rng, low, high));
}

/* ---- 10.7 without frees ---------------------------------------------------------------------------------- */

static void rest(writer *w)
{
    int64_t bytes = 64 * KIB << mg_pick(w->rng, 0, 2); /* the last one leaves no rest */
    for (int i = 0; i < HELD / 2; i++)
        alloc(w, bytes);
    bytes = mg_pick(w->rng, 20, 200) * KIB;
    for (int i = 0; i < HELD / 2; i++)
        alloc(w, bytes);
}

static void best_fit(writer *w)
{
    bool small = mt_rng_below(w->rng, 2);
    alloc_some(w, HELD, 1, small ? MIB : 9 * MIB);
}

/* Of 20 MiB 19 are used and a little less or more: what is left is 1 MiB, a little more, or a little less. */
static void large(writer *w)
{
    mg_pool_add(&w->s, MG_POOL_RESERVE, 1); /* a large segment of 2 MiB, as small ones have */
    alloc(w, MIB + 512 * KIB);
    for (int i = 0; i < 10; i++) {
        alloc(w, 9 * MIB + 512 * KIB);
        alloc(w, 9 * MIB + 512 * KIB + 512 * mg_pick(w->rng, -2, 2));
        alloc(w, MIB + 512); /* needs more than 1 MiB */
        alloc(w, 10 * MIB + 512 * mg_pick(w->rng, 2046, 2050));
    }
}

static void kinds(writer *w)
{
    mg_pool_add(&w->s, MG_POOL_RESERVE, 1);
    for (int i = 0; i < HELD / 4; i++) {
        alloc(w, 6 * MIB);
        alloc(w, mg_pick(w->rng, 1, MIB));
        alloc(w, MIB + 512 * mg_pick(w->rng, -2, 2));
        alloc(w, mg_pick(w->rng, MIB / 2, 4 * MIB));
    }
}

/* ---- 10.8 frees -------------------------------------------------------------------------------------------- */

/* Four blocks and the rest fill a segment. The second is freed after the free neighbours that it shall have; then one
 * is allocated that needs all of them. */
static void neighbours(writer *w, bool left, bool right)
{
    int64_t part = mg_pick(w->rng, 2, 4) * 512 * KIB + MIB;
    for (int i = 0; i < 4; i++)
        alloc(w, part);
    alloc(w, 20 * MIB - 4 * part);
    if (right)
        release(w, 2);
    if (left)
        release(w, 0);
    release(w, left ? 0 : 1);
    alloc(w, part * (1 + left + right));
    alloc(w, part); /* no part of that is free any more */
    alloc(w, part);
}

static void right(writer *w)
{
    neighbours(w, false, true);
}

static void left(writer *w)
{
    neighbours(w, true, false);
}

static void both(writer *w)
{
    neighbours(w, true, true);
}

static void apart(writer *w)
{
    int64_t bytes = 2 * MIB * mg_pick(w->rng, 5, 9);
    for (int i = 0; i < 4; i++)
        alloc(w, bytes);
    release_any(w, 0);
    alloc(w, 2 * bytes);
    alloc(w, bytes + 512);
    release_any(w, 0);
    alloc(w, GIB4 + 4 * bytes); /* more than any other piece; its rest does not fit 32 bits */
    release(w, 0);
    alloc(w, 4 * bytes);
    alloc(w, GIB4);
    alloc(w, GIB4 / 8 * 9);
    alloc(w, GIB4 / 8 * 13); /* in 32 bits it is below 0 */
    release(w, w->count - 1);
    release(w, w->count - 1);
    alloc(w, GIB4 / 16 * 17);
}

static void whole(writer *w)
{
    for (int round = 0; round < 4; round++) {
        alloc_some(w, 8, MIB + 1, 3 * MIB);
        alloc_some(w, 10, 1, 180 * KIB);
        release_any(w, 0);
        alloc(w, 20 * MIB);
        alloc(w, MIB);
        alloc(w, MIB);
        release_any(w, 0);
    }
}

static int64_t any_size(mt_rng *rng)
{
    static const int64_t most[] = { 2 * KIB, 300 * KIB, MIB, 8 * MIB, 40 * MIB };
    return mg_pick(rng, 1, most[mt_rng_below(rng, MT_COUNT(most))]);
}

static void any_events(writer *w, int n)
{
    for (int i = 0; i < n; i++)
        if (w->count == HELD || mt_rng_below(w->rng, HELD) < w->count)
            release(w, (int)mt_rng_below(w->rng, w->count));
        else
            alloc(w, any_size(w->rng));
}

/* Hundreds of free blocks in one list: every second block is freed, so that most have no free neighbour. */
static void many(writer *w, int64_t least)
{
    int n = (int)mg_pick(w->rng, 500, 640);
    release_any(w, 0);
    alloc_some(w, n, least, 2 * least - 512);
    for (int i = 0; i < n / 2; i++)
        release(w, i);
    alloc_some(w, n / 2, least, 2 * least - 512);
}

static void any(writer *w)
{
    any_events(w, 600);
    release_any(w, 0);
    any_events(w, 200);
    many(w, 64 * KIB);
    many(w, 4 * MIB);
}

/* ---- 10.9 trims -------------------------------------------------------------------------------------------- */

static void trim_all(writer *w)
{
    trim(w);
    for (int round = 0; round < 3; round++) {
        any_events(w, 100);
        release_any(w, 0);
        trim(w);
    }
    many(w, 4 * MIB); /* hundreds of segments */
    release_any(w, 0);
    trim(w);
}

static void trim_used(writer *w)
{
    for (int round = 0; round < 8; round++) {
        any_events(w, 100);
        release_any(w, (int)mg_pick(w->rng, 1, 6));
        trim(w);
    }
}

static void out(writer *w)
{
    w->s.memory = 100 * MIB;
    for (int round = 0; round < 3; round++) {
        alloc_some(w, 6, 12 * MIB, 16 * MIB);
        release_any(w, round);
        alloc(w, 50 * MIB);
        release_any(w, 0);
    }
}

static void out_kinds(writer *w)
{
    w->s.memory = 30 * MIB;
    alloc_some(w, 20, MIB - 1000, MIB);
    release_any(w, 0);
    alloc(w, 20 * MIB);
    alloc(w, MIB);
    release_any(w, 0);
    alloc_some(w, 25, MIB - 1000, MIB);
}

static void refused(writer *w)
{
    w->s.memory = 40 * MIB;
    alloc_some(w, 2, 14 * MIB, 16 * MIB);
    alloc(w, 20 * MIB);
    release(w, 2);
    alloc(w, 60 * MIB);
    release(w, 2);
    alloc(w, 5000);
    release_any(w, 0);
    alloc(w, 38 * MIB);
}

static void little(writer *w)
{
    w->s.memory = 150 * MIB;
    any_events(w, 600);
}

void mg_10_pool(mg_run *run, const void *one_case)
{
    static void (*const scripts[])(writer *) = {
        [POOL_REST] = rest,    [POOL_BEST_FIT] = best_fit,   [POOL_LARGE] = large,
        [POOL_KINDS] = kinds,  [POOL_RIGHT] = right,         [POOL_LEFT] = left,
        [POOL_BOTH] = both,    [POOL_APART] = apart,         [POOL_WHOLE] = whole,
        [POOL_ANY] = any,      [POOL_TRIM] = trim_all,       [POOL_TRIM_USED] = trim_used,
        [POOL_OUT] = out,      [POOL_OUT_KINDS] = out_kinds, [POOL_REFUSED] = refused,
        [POOL_SHORT] = little,
    };
    bool good = true;
    for (int i = 0; i < 5 && good; i++) {
        writer w = { .s.memory = PLENTY, .rng = mg_rng(run) };
        scripts[((const pool_case *)one_case)->about](&w);
        good = mg_pool_play(run, &w.s);
        free(w.s.event);
    }
}
