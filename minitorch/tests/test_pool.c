/* test_pool.c -- the caching allocator over a system that has addresses but no memory: what touches a block, crashes.
 * Random traces are compared with a list of what is used; after each step the blocks must tile their segments. */
#include "aborts.h"
#include "core/rng.h"
#include "memory/caching.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>

/* ---- a system ------------------------------------------------------------------------------------------ */

enum { PIECES = 4096 };

static struct {
    struct {
        uintptr_t at;
        int64_t bytes; /* 0: free */
    } piece[PIECES];
    int pieces;
    uintptr_t next;
    int64_t left, out, calls;     /* bytes it still has; bytes it has given; calls so far */
    int64_t fails_from, fails_to; /* these calls, counted from 1, get NULL */
} sys;

static void *system_alloc(int64_t bytes)
{
    sys.calls++;
    if (bytes > sys.left || (sys.calls >= sys.fails_from && sys.calls <= sys.fails_to))
        return NULL;
    cr_assert_lt(sys.pieces, PIECES);
    sys.piece[sys.pieces].at = sys.next;
    sys.piece[sys.pieces++].bytes = bytes;
    sys.next += (uintptr_t)bytes + 4096; /* segments have gaps: nothing may be merged across them */
    sys.left -= bytes;
    sys.out += bytes;
    return (void *)sys.piece[sys.pieces - 1].at; // NOLINT(performance-no-int-to-ptr)
}

static void system_free(void *data, int64_t bytes)
{
    int i = 0;
    while (i < sys.pieces && sys.piece[i].at != (uintptr_t)data)
        i++;
    cr_assert(i < sys.pieces && sys.piece[i].bytes == bytes, "%" PRId64 " bytes at %p did not come from here", bytes,
              data);
    sys.piece[i].bytes = 0;
    sys.left += bytes;
    sys.out -= bytes;
}

static mt_pool *fresh(int64_t memory)
{
    memset(&sys, 0, sizeof sys);
    sys.next = (uintptr_t)1 << 40;
    sys.left = memory;
    return mt_pool_open((mt_allocator){ system_alloc, system_free });
}

/* ---- what must hold at any time ------------------------------------------------------------------------ */

typedef struct sums {
    int64_t used, wanted, free, blocks, segments;
} sums;

static void look_at(void *user, const mt_pool_segment *s)
{
    sums *sum = user;
    const char *at = s->first->data;
    const mt_pool_block *before = NULL;
    for (const mt_pool_block *b = s->first; b; before = b, b = b->right) {
        cr_assert_eq(b->data, at);
        cr_assert_eq(b->left, before);
        cr_assert_eq(b->segment, s);
        cr_assert(b->bytes > 0 && b->bytes % MT_POOL_ROUND == 0);
        cr_assert(b->used || !before || before->used, "two free neighbours");
        at += b->bytes;
        *(b->used ? &sum->used : &sum->free) += b->bytes;
        sum->wanted += b->used ? b->wanted : 0;
        sum->blocks += b->used;
    }
    cr_assert_eq(at - s->first->data, s->bytes, "the blocks are not all of their segment");
    sum->segments++;
}

static mt_pool_stats check(mt_pool *pool)
{
    sums sum = { 0 };
    mt_pool_stats s = mt_pool_stats_of(pool);
    mt_pool_visit(pool, look_at, &sum);
    cr_assert_eq(s.used, sum.used);
    cr_assert_eq(s.wanted, sum.wanted);
    cr_assert_eq(s.blocks, sum.blocks);
    cr_assert_eq(s.segments, sum.segments);
    cr_assert_eq(s.reserved, sum.used + sum.free);
    cr_assert_eq(s.reserved, sys.out);
    cr_assert(s.peak_used >= s.used && s.peak_wanted >= s.wanted && s.peak_reserved >= s.reserved);
    return s;
}

static void close_pool(mt_pool *pool)
{
    cr_assert_eq(check(pool).blocks, 0);
    mt_pool_close(pool);
    cr_assert_eq(sys.out, 0);
}

/* ---- sizes --------------------------------------------------------------------------------------------- */

Test(pool, sizes_of_blocks_and_segments)
{
    static const struct {
        int64_t bytes, block, segment;
    } cases[] = {
        { 1, 512, 2 * MT_MIB },
        { 511, 512, 2 * MT_MIB },
        { 512, 512, 2 * MT_MIB },
        { 513, 1024, 2 * MT_MIB },
        { MT_MIB - 511, MT_MIB, 2 * MT_MIB },
        { MT_MIB, MT_MIB, 2 * MT_MIB },
        { MT_MIB + 1, MT_MIB + 512, 20 * MT_MIB },
        { 10 * MT_MIB - 512, 10 * MT_MIB - 512, 20 * MT_MIB },
        { 10 * MT_MIB - 511, 10 * MT_MIB, 10 * MT_MIB },
        { 10 * MT_MIB, 10 * MT_MIB, 10 * MT_MIB },
        { 10 * MT_MIB + 1, 10 * MT_MIB + 512, 12 * MT_MIB },
        { 12 * MT_MIB, 12 * MT_MIB, 12 * MT_MIB },
        { 1000 * MT_MIB - 1, 1000 * MT_MIB, 1000 * MT_MIB },
    };
    for (int i = 0; i < MT_COUNT(cases); i++) {
        mt_pool_sizes s = mt_pool_sizes_of(cases[i].bytes);
        cr_assert_eq(s.block, cases[i].block, "%" PRId64 " bytes: block of %" PRId64, cases[i].bytes, s.block);
        cr_assert_eq(s.segment, cases[i].segment, "%" PRId64 " bytes: segment of %" PRId64, cases[i].bytes, s.segment);
        cr_assert_eq(s.kind, cases[i].block <= MT_MIB ? MT_POOL_OF_SMALL : MT_POOL_OF_LARGE);
    }
    mt_pool *pool = fresh(INT64_MAX);
    cr_assert_null(mt_pool_alloc(pool, INT64_MAX), "no size may overflow");
    close_pool(pool);
}

/* ---- traces -------------------------------------------------------------------------------------------- */

enum { SLOTS = 200 };

typedef struct slot {
    char *data;
    int64_t bytes;
} slot;

/* Of every kind: small, middle, large, and those beside the limits. */
static int64_t any_size(mt_rng *rng)
{
    static const int64_t edge[] = { 1, 511, 512, 513, MT_MIB, MT_MIB + 1, 10 * MT_MIB - 1, 10 * MT_MIB };
    switch (mt_rng_below(rng, 4)) {
    case 0:
        return edge[mt_rng_below(rng, MT_COUNT(edge))];
    case 1:
        return 1 + (int64_t)mt_rng_below(rng, 100000);
    case 2:
        return 1 + (int64_t)mt_rng_below(rng, 12 * MT_MIB);
    default:
        return 1 + (int64_t)mt_rng_below(rng, 40 * MT_MIB);
    }
}

static void free_slot(mt_pool *pool, slot *s)
{
    if (s->data)
        mt_pool_free(pool, s->data, s->bytes);
    s->data = NULL;
}

static bool lies_in_a_piece(const slot *s)
{
    for (int i = 0; i < sys.pieces; i++)
        if ((uintptr_t)s->data >= sys.piece[i].at &&
            (uintptr_t)s->data + (uintptr_t)s->bytes <= sys.piece[i].at + (uintptr_t)sys.piece[i].bytes)
            return true;
    return false;
}

static void check_slot(const slot *all, const slot *s)
{
    cr_assert_eq((uintptr_t)s->data % MT_ALIGNMENT, 0);
    cr_assert(lies_in_a_piece(s), "%" PRId64 " bytes at %p are not the pool's", s->bytes, (void *)s->data);
    for (const slot *o = all; o < all + SLOTS; o++)
        cr_assert(o == s || !o->data || o->data + o->bytes <= s->data || s->data + s->bytes <= o->data, "overlap");
}

/* Returns how many requests were refused. */
static int random_trace(mt_pool *pool, slot *all, mt_rng *rng, int steps)
{
    int refused = 0;
    for (int i = 0; i < steps; i++) {
        slot *s = &all[mt_rng_below(rng, SLOTS)];
        free_slot(pool, s);
        if (mt_rng_below(rng, 3) == 0)
            continue;
        s->bytes = any_size(rng);
        s->data = mt_pool_alloc(pool, s->bytes);
        refused += !s->data;
        if (s->data)
            check_slot(all, s);
        check(pool);
    }
    return refused;
}

Test(pool, random_traces_leave_whole_segments)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        mt_pool *pool = fresh(INT64_MAX);
        mt_rng rng = mt_rng_new(seed, MT_STREAM_DATA);
        slot all[SLOTS] = { { 0 } };
        cr_assert_eq(random_trace(pool, all, &rng, 3000), 0);
        cr_assert_gt(mt_pool_stats_of(pool).used, 0);
        mt_pool_empty(pool);
        check(pool);
        for (slot *s = all; s < all + SLOTS; s++)
            free_slot(pool, s);
        mt_pool_stats s = check(pool);
        cr_assert_eq(s.used + s.wanted + s.blocks, 0);
        cr_assert_eq(mt_pool_empty(pool), s.reserved);
        cr_assert_eq(sys.out, 0);
        close_pool(pool);
    }
}

/* Little memory: requests are refused, others succeed after a trim. */
Test(pool, goes_on_when_memory_is_short)
{
    mt_pool *pool = fresh(500 * MT_MIB);
    mt_rng rng = mt_rng_new(1, MT_STREAM_DATA);
    slot all[SLOTS] = { { 0 } };
    int refused = random_trace(pool, all, &rng, 3000);
    cr_assert(refused > 100 && refused < 2000, "%d refused", refused);
    cr_assert_gt(mt_pool_stats_of(pool).system_calls, refused);
    for (slot *s = all; s < all + SLOTS; s++)
        free_slot(pool, s);
    close_pool(pool);
}

/* The n-th call of the system fails, for every n: alone, and with the next, so that the retry fails too. */
Test(pool, any_refusal_of_the_system_is_survived)
{
    enum { STEPS = 150 };
    for (int both = 0; both < 2; both++)
        for (int64_t n = 1, calls = INT64_MAX; n <= calls; n++) {
            mt_pool *pool = fresh(INT64_MAX);
            mt_rng rng = mt_rng_new(7, MT_STREAM_DATA);
            slot all[SLOTS] = { { 0 } };
            sys.fails_from = n, sys.fails_to = n + both;
            cr_assert_eq(random_trace(pool, all, &rng, STEPS), both && sys.calls > n);
            calls = sys.calls;
            cr_assert_gt(calls, 20);
            for (slot *s = all; s < all + SLOTS; s++)
                free_slot(pool, s);
            close_pool(pool);
        }
}

Test(pool, asks_the_system_no_more_once_warm)
{
    mt_pool *pool = fresh(INT64_MAX);
    for (int round = 0; round < 5; round++) {
        mt_rng rng = mt_rng_new(3, MT_STREAM_DATA);
        slot all[SLOTS] = { { 0 } };
        int64_t before = sys.calls;
        random_trace(pool, all, &rng, 500);
        cr_assert(round < 2 || sys.calls == before, "round %d asked again", round);
        for (slot *s = all; s < all + SLOTS; s++)
            free_slot(pool, s);
    }
    close_pool(pool);
}

Test(pool, asks_once_for_what_it_reserves)
{
    mt_pool *pool = fresh(100 * MT_MIB);
    cr_expect(!mt_pool_reserve(pool, 101 * MT_MIB) && mt_pool_reserve(pool, 99 * MT_MIB) && sys.calls == 2);
    for (int64_t bytes = 12 * MT_MIB; bytes <= 96 * MT_MIB; bytes += 12 * MT_MIB)
        mt_pool_free(pool, mt_pool_alloc(pool, bytes), bytes);
    cr_expect(sys.calls == 2 && sys.out == 100 * MT_MIB);
    mt_pool_close(pool);
    cr_expect_eq(sys.out, 0);
}

/* More used blocks than the table has room for at first. */
Test(pool, finds_each_of_many_blocks)
{
    enum { MANY = 5000 };
    mt_pool *pool = fresh(INT64_MAX);
    char **block = malloc(MANY * sizeof *block);
    for (int i = 0; i < MANY; i++)
        block[i] = mt_pool_alloc(pool, 1 + i);
    cr_assert_eq(check(pool).blocks, MANY);
    for (int i = 0; i < MANY; i++) {
        int k = (int)((int64_t)i * 7919 % MANY); /* in another order: 7919 and MANY have no common factor */
        mt_pool_free(pool, block[k], 1 + k);
    }
    close_pool(pool);
    free(block);
}

Test(pool, refuses_what_is_not_its_own)
{
    mt_pool *pool = fresh(INT64_MAX);
    char *data = mt_pool_alloc(pool, 1000);
    ABORTS("the pool has no used block at", mt_pool_free(pool, data + 512, 1000));
    ABORTS("a block of 1000 bytes is freed as 999", mt_pool_free(pool, data, 999));
    ABORTS("a pool with 1 used blocks cannot be closed", mt_pool_close(pool));
    mt_pool_free(pool, data, 1000);
    ABORTS("the pool has no used block at", mt_pool_free(pool, data, 1000));
    close_pool(pool);
}

/* ---- as the allocator of a device ---------------------------------------------------------------------- */

static void fill_and_free(mt_rng *rng, int steps)
{
    enum { HELD = 16 };
    struct {
        int64_t *data, n;
    } held[HELD] = { { 0 } };
    for (int i = 0; i < steps; i++) {
        int at = (int)mt_rng_below(rng, HELD);
        for (int64_t k = 0; held[at].data && k < held[at].n; k++)
            cr_assert_eq(held[at].data[k], held[at].n + k);
        mt_free(held[at].data, held[at].n * 8, MT_CPU);
        held[at].n = (int64_t)mt_rng_below(rng, i % 50 == 0 ? 200000 : 3000);
        held[at].data = mt_alloc(held[at].n * 8, MT_CPU);
        cr_assert_eq((uintptr_t)held[at].data % MT_ALIGNMENT, 0);
        for (int64_t k = 0; k < held[at].n; k++)
            held[at].data[k] = held[at].n + k;
    }
    for (int at = 0; at < HELD; at++)
        mt_free(held[at].data, held[at].n * 8, MT_CPU);
}

Test(pool, serves_several_threads)
{
    mt_caching_begin(MT_CPU);
#pragma omp parallel num_threads(4)
    {
        mt_rng rng = mt_rng_new(1 + (uint64_t)omp_get_thread_num(), MT_STREAM_DATA);
        fill_and_free(&rng, 500);
    }
    mt_pool_stats s = mt_pool_stats_of(mt_caching_pool(MT_CPU));
    cr_assert_eq(s.blocks, 0);
    cr_assert_geq(s.allocations, 2000);
    cr_assert_lt(s.system_calls, 100);
    mt_caching_end(MT_CPU);
    cr_assert_null(mt_caching_pool(MT_CPU));
}

Test(pool, changes_only_between_blocks)
{
    void *block = mt_alloc(100, MT_CPU);
    ABORTS("the allocator of cpu cannot change while 1 blocks are live", mt_caching_begin(MT_CPU));
    mt_free(block, 100, MT_CPU);
    ABORTS("no memory on cuda", mt_caching_begin(MT_CUDA));
    mt_caching_end(MT_CPU); /* there is none */
    mt_caching_begin(MT_CPU);
    ABORTS("cpu has a pool", mt_caching_begin(MT_CPU));
    cr_assert_not_null(block = mt_alloc(0, MT_CPU));
    ABORTS("the allocator of cpu cannot change while 1 blocks are live", mt_caching_end(MT_CPU));
    mt_free(block, 0, MT_CPU);
    mt_caching_end(MT_CPU);
}

static void use_less(void *user, FILE *out, int64_t had)
{
    fprintf(out, "%s less than %" PRId64 "\n", (const char *)user, had);
}

Test(pool, says_what_there_is_when_memory_is_out)
{
    mt_pool_close(fresh(50 * MT_MIB));
    mt_allocator_set(MT_CPU, &(mt_allocator){ system_alloc, system_free });
#ifndef MT_DEBUG /* which writes into blocks */
    mt_caching_begin(MT_CPU);
    void *a = mt_alloc(1000, MT_CPU), *b = mt_alloc(30 * MT_MIB, MT_CPU);
    ABORTS("out of memory on cpu: 41943040 bytes wanted, 31458280 live", mt_alloc(40 * MT_MIB, MT_CPU));
    mt_memory_advise(use_less, "use");
    ABORTS("41943040 bytes cannot be allocated\n"
           "memory of cpu: 31.5 MB live, at most 31.5 MB so far\n"
           "              segments  reserved MB      used MB  largest free MB\n"
           "small blocks         1          2.1          0.0              2.1\n"
           "large blocks         1         31.5         31.5              0.0\n"
           "3 allocations, for which the system was asked 4 times\n"
           "use less than 51904512\n",
           mt_alloc(40 * MT_MIB, MT_CPU));
    mt_free(a, 1000, MT_CPU);
    mt_free(b, 30 * MT_MIB, MT_CPU);
    mt_free(mt_alloc(40 * MT_MIB, MT_CPU), 40 * MT_MIB, MT_CPU); /* after a trim */
    mt_caching_end(MT_CPU);
#endif
    mt_memory_advise(use_less, "use");
    ABORTS("memory of cpu: 0.0 MB live, at most", mt_alloc(60 * MT_MIB, MT_CPU));
    mt_allocator_set(MT_CPU, NULL);
}
