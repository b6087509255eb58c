/* 05-samplers.c -- how the checks of steps 05.8 to 05.12 run: orders, shares, batches, streams. Rows: 05-data.c. */
#include "checks/05-data.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3 }; /* of a part of a row */

int64_t *mg_05_order_of(const int64_t *sampler, int64_t epoch)
{
    int64_t *order = calloc((size_t)sampler[MG_COUNT] + 1, sizeof *order);
    MT_CHECK(order, "out of memory");
    mt_rng all = mt_rng_new((uint64_t)sampler[MG_SEED], MT_STREAM_SHUFFLE);
    mt_rng rng = mt_rng_substream(&all, (uint64_t)epoch);
    if (sampler[MG_SHUFFLE])
        mt_rng_permutation(&rng, order, sampler[MG_COUNT]);
    for (int64_t i = 0; i < sampler[MG_COUNT] && !sampler[MG_SHUFFLE]; i++)
        order[i] = i;
    return order;
}

mt_rng mg_05_sample_stream(int64_t seed, int64_t epoch, int64_t index)
{
    mt_rng all = mt_rng_new((uint64_t)seed, MT_STREAM_AUGMENT), of_epoch = mt_rng_substream(&all, (uint64_t)epoch);
    return mt_rng_substream(&of_epoch, (uint64_t)index);
}

static int64_t *sampler_in(mg_run *run, int64_t count, bool shuffle)
{
    int64_t *s = mg_in(run, "sampler", MT_I64, MT_SHAPE(MG_SAMPLER));
    s[MG_COUNT] = count;
    s[MG_SHUFFLE] = shuffle;
    s[MG_SEED] = (int64_t)mt_rng_u64(mg_rng(run));
    s[MG_WORLD] = 1;
    return s;
}

static bool expect_whole(mg_run *run, const char *name, const int64_t *whole, int64_t n)
{
    double *want = mg_doubles(n);
    for (int64_t i = 0; i < n; i++)
        want[i] = (double)whole[i];
    bool good = mg_expect(run, name, want, NULL);
    free(want);
    return good;
}

void mg_05_order(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind: shuffled */
    const int64_t few = mg_pick(mg_rng(run), 20, 500), any = mg_pick_size(mg_rng(run), 1, 19),
                  late = mg_pick(mg_rng(run), 2, 1LL << 40);
    const int64_t seed[] = { (int64_t)mt_rng_u64(mg_rng(run)), (int64_t)mt_rng_u64(mg_rng(run)),
                             (int64_t)mt_rng_u64(mg_rng(run)) };
#define AGAIN   "only this has changed since the call before: earlier calls must have no effect"
#define SHUFFLE "the same seed, epoch and count as in the call before: only shuffle has changed"
    const struct {
        const char *part, *hint;
        int64_t count, seed, epoch, shuffle, rank;
    } tries[] = {
        /* a static variable is 0 before any call */
        { "seed 0", NULL, few, 0, 0, c->kind, 0 },
        { "another seed", AGAIN, few, seed[0], 0, c->kind, 0 },
        { "many samples", NULL, 70001, seed[1], 1, c->kind, 0 },
        { "another epoch", AGAIN, 70001, seed[1], mg_pick(mg_rng(run), 2, 99), c->kind, 0 },
        { NULL, NULL, any, seed[2], late, c->kind, 0 },
        { "another count", AGAIN, any + 500, seed[2], late, c->kind, 0 },
        { "another seed", AGAIN, any + 500, 0, late, c->kind, 0 },
        { "not shuffled", SHUFFLE, any + 500, 0, late, 0, 0 },
        { "rank 2 of 3", "the order is that of the whole set, the same on every rank", few, seed[0], 0, c->kind, 2 },
        { "no samples", "count may be 0: then order has no element, and nothing is written", 0, seed[0], 0, c->kind,
          0 },
    };
    bool good = true;
    for (int t = 0; t < MT_COUNT(tries) && good; t++) {
        mg_part(run, tries[t].part, tries[t].hint);
        mg_begin(run, "mt_sampler_order");
        mg_out(run, "order", MT_I64, MT_SHAPE(tries[t].count));
        int64_t *s = sampler_in(run, tries[t].count, tries[t].shuffle);
        s[MG_SEED] = tries[t].seed;
        s[MG_RANK] = tries[t].rank;
        s[MG_WORLD] = tries[t].rank + 1;
        mg_i64(run, "epoch", tries[t].epoch);
        int64_t *order = mg_05_order_of(s, tries[t].epoch);
        good =
            (tries[t].rank ? mg_shared_call(run) : mg_call(run)) && expect_whole(run, "order", order, tries[t].count);
        free(order);
    }
}

/* The share of one rank from place `first` on, from the end if that is negative; where there is none, the worker says
 * -1. rank < 0: of every rank of the world. */
static bool share_once(mg_run *run, const char *part, int64_t count, int64_t rank, int64_t world, int64_t drop,
                       int64_t first)
{
    const int64_t length = drop ? count / world : count / world + (count % world > 0), all = rank < 0;
    bool good = true;
    mg_part(run, part, NULL);
    first += first < 0 ? length : 0;
    for (rank = all ? 0 : rank; good && rank < world; rank += all ? 1 : world) {
        int64_t want[64];
        mg_begin(run, "mt_sampler_length and _place");
        mg_out(run, "length", MT_I64, MT_SHAPE(1));
        mg_out(run, "place", MT_I64, MT_SHAPE(MT_COUNT(want)));
        int64_t *s = sampler_in(run, count, true);
        s[MG_RANK] = rank;
        s[MG_WORLD] = world;
        s[MG_UNEVEN] = drop;
        mg_i64(run, "first k", first);
        for (int64_t i = 0; i < MT_COUNT(want); i++)
            want[i] = first + i < length ? ((first + i) * world + rank) % count : -1;
        good =
            mg_call(run) && expect_whole(run, "length", &length, 1) && expect_whole(run, "place", want, MT_COUNT(want));
    }
    return good;
}

/* A call that must abort: of mt_sampler_steps, or if batch is 1 of mt_sampler_distributed. */
static bool refused(mg_run *run, int64_t rank, int64_t world, int64_t batch, const char *header)
{
    char what[80];
    mg_begin_refused(run, batch == 1 ? "may abort: mt_sampler_distributed" : "may abort: mt_sampler_steps");
    int64_t *s = sampler_in(run, 10, true);
    s[MG_RANK] = rank;
    s[MG_WORLD] = world;
    if (batch != 1)
        mg_i64(run, "batch", batch);
    snprintf(what, sizeof what, "rank %" PRId64 " of %" PRId64 ", a batch of %" PRId64, rank, world, batch);
    return mg_refused(run, what, header);
}

void mg_05_shares(mg_run *run, const void *one_case)
{
    static const int64_t wrong[][2] = { { 3, 3 }, { -1, 3 }, { 4, 3 }, { 0, 0 } };
    const data_case *c = one_case; /* kind: drop; spread: fewer samples than ranks */
    mt_rng *rng = mg_rng(run);
    bool good = true;
    for (int t = 0; t < CALLS && good; t++) {
        int64_t world = mg_pick(rng, 3, 9);
        good = share_once(run, NULL, c->spread ? mg_pick(rng, 1, world / 2) : mg_pick(rng, world, 60), -1, world,
                          c->kind, 0);
    }
    if (c->spread)
        good = good && share_once(run, "no samples", 0, -1, mg_pick(rng, 3, 9), c->kind, 0);
    else
        good = good && share_once(run, "a multiple of the ranks", 5 * mg_pick(rng, 1, 6), -1, 5, c->kind, 0) &&
               share_once(run, "one rank", mg_pick(rng, 2, 60), -1, 1, c->kind, 0) &&
               share_once(run, "two ranks", 2 * mg_pick(rng, 1, 30) + 1, -1, 2, c->kind, 0) &&
               (!c->kind || share_once(run, "fewer samples than ranks", mg_pick(rng, 0, 4), -1, 5, c->kind, 0));
    for (int t = 0; t < CALLS && good; t++)
        good = share_once(run, "more samples than 32 bits count", mg_pick(rng, 1LL << 40, 1LL << 41),
                          mt_rng_below(rng, 7), 7, c->kind, -64);
    mg_part(run, "refusals", NULL);
    for (int i = 0; i < MT_COUNT(wrong) && good && c->kind == 0 && !c->spread; i++)
        good = refused(run, wrong[i][0], wrong[i][1], 1, "not 0 <= rank < world");
}

enum { MOST = 64 /* batches, and samples, that are looked at */ };

/* The batches of the last rank of `world`, of which each has `length` samples; `rest` more are dropped, or as many of
 * them are padded. Of a large set only the first batches are asked for. */
static bool batches_once(mg_run *run, const char *part, int64_t batch, int64_t length, int64_t world, int64_t rest,
                         bool drop)
{
    const int64_t count = length * world + (drop ? rest : -rest),
                  steps[2] = { (length + batch - 1) / batch, length / batch };
    const int64_t known = mt_min(count, MOST * batch);
    int64_t index[MOST], size[MOST];
    mg_part(run, part, NULL);
    mg_begin(run, "mt_sampler_steps and _batch");
    mg_out(run, "steps, and with drop_last", MT_I64, MT_SHAPE(2));
    mg_out(run, "index", MT_I64, MT_SHAPE(MOST));
    mg_out(run, "size", MT_I64, MT_SHAPE(MOST));
    mg_out(run, "written behind the last", MT_I64, MT_SHAPE(1));
    int64_t *order = mg_in(run, "order", MT_I64, MT_SHAPE(known));
    int64_t *s = sampler_in(run, count, true);
    s[MG_WORLD] = world;
    s[MG_RANK] = world - 1;
    s[MG_UNEVEN] = drop;
    mg_i64(run, "batch", batch);
    mt_rng_permutation(mg_rng(run), order, known);
    memset(index, 0xff, sizeof index);
    memset(size, 0xff, sizeof size);
    for (int64_t i = 0; i < mt_min(length, MOST); i++)
        index[i] = order[(i * world + world - 1) % count];
    for (int64_t k = 0; k < MOST && k * batch < length; k++)
        size[k] = mt_min(batch, length - k * batch);
    if (!mg_call(run) || !expect_whole(run, "steps, and with drop_last", steps, 2) ||
        !expect_whole(run, "size", size, MOST) || !expect_whole(run, "index", index, MOST))
        return false;
    if (*(const int64_t *)mg_result(run, "written behind the last") == 0)
        return true;
    mg_hint(run, "the last batch writes only the n entries of index that it has, not all of [batch]");
    mg_fail(run, "index[n] or an entry behind it was written in a batch of n samples");
    return false;
}

void mg_05_batches(mg_run *run, const void *one_case)
{
    enum { SMALLER, FULL, RANKS };
    const data_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    bool good = true;
    for (int t = 0; t < 2 * CALLS && good; t++) {
        const int64_t batch = mg_pick(rng, c->kind == FULL ? 1 : 2, 7),
                      world = c->kind == RANKS ? mg_pick(rng, 2, 4) : 1;
        const int64_t length = batch * mg_pick(rng, 1, 6) + (c->kind == FULL ? 0 : mg_pick(rng, 1, batch - 1));
        good = batches_once(run, NULL, batch, length, world, 0, mt_rng_below(rng, 2));
        for (int drop = 0; drop < 2 && good && c->kind == RANKS; drop++)
            good = batches_once(run, "a set that the ranks do not divide", batch, length, world,
                                mg_pick(rng, 1, world - 1), drop);
    }
    if (!good || c->kind != SMALLER)
        return;
    good = batches_once(run, "fewer samples than a batch", 7, mg_pick(rng, 1, 6), 1, 0, false) &&
           batches_once(run, "no samples", 5, 0, 1, 0, true) &&
           batches_once(run, "more than 65536 samples a batch", 70001, 70001 * mg_pick(rng, 1, 6) + 1, 1, 0, false) &&
           batches_once(run, "more samples than 32 bits count", 7, mg_pick(rng, 1LL << 40, 1LL << 41), 1, 0, false);
    mg_part(run, "refusals", NULL);
    if (good && refused(run, 0, 1, 0, "batch < 1"))
        refused(run, 0, 1, -1, "batch < 1");
}

static bool sample_rng_once(mg_run *run, const char *part, int64_t most_epoch, int64_t most_index, bool searched)
{
    enum { N = 32 };
    int64_t want[N], seed = (int64_t)mt_rng_u64(mg_rng(run));
    mg_part(run, part, NULL);
    mg_begin(run, "mt_sample_rng");
    mg_out(run, "first draw", MT_I64, MT_SHAPE(N));
    int64_t *epoch = mg_in(run, "epoch", MT_I64, MT_SHAPE(N)), *index = mg_in(run, "index", MT_I64, MT_SHAPE(N));
    mg_i64(run, "seed", seed);
    for (int i = 0; i < N; i++) {
        epoch[i] = mg_pick(mg_rng(run), 0, most_epoch);
        index[i] = mg_pick(mg_rng(run), 0, most_index);
        mt_rng rng = mg_05_sample_stream(seed, epoch[i], index[i]);
        want[i] = mt_rng_u32(&rng);
    }
    return (searched ? mg_shared_call(run) : mg_call(run)) && expect_whole(run, "first draw", want, N);
}

void mg_05_sample_rng(mg_run *run, const void *one_case)
{
    (void)one_case;
    if (sample_rng_once(run, NULL, 5, 60000, false) &&
        sample_rng_once(run, "more than 32 bits", 1LL << 40, 1LL << 40, false))
        sample_rng_once(run, "several threads", 5, 60000, true);
}

enum { GOOD, BAD, LOST, SET = 40, N = 12, FIELDS = 4 };

/* The expected batch: status and number of skipped samples; index and x where they are defined. */
static void expect_batch(int64_t result[2], int64_t *index, double *x, const uint8_t *bad, int64_t seed, bool skip)
{
    result[0] = MT_OK;
    result[1] = 0;
    for (int n = 0; n < N; n++) {
        int tries = 0;
        for (; tries < SET && skip && bad[index[n]] == BAD; tries++)
            index[n] = (index[n] + 1) % SET;
        result[1] += tries;
        if (bad[index[n]] != GOOD) {
            result[0] = bad[index[n]] == LOST ? MT_ERR_IO : MT_ERR_FORMAT;
            return;
        }
        mt_rng rng = mg_05_sample_stream(seed, 3, index[n]);
        x[n * FIELDS] = (double)index[n];
        for (int i = 1; i < FIELDS; i++)
            x[n * FIELDS + i] = mt_rng_uniform(&rng);
    }
}

/* Which samples are bad, and which are lost where percent is negative: those behind bad ones, too. */
static void draw_bad(mt_rng *rng, uint8_t *bad, int64_t percent)
{
    for (int i = 0; i < SET; i++) {
        bad[i] = mt_rng_below(rng, 100) < llabs(percent) ? (percent < 0 ? LOST : BAD) : GOOD;
        if (percent < 0 && bad[i] == GOOD && mt_rng_below(rng, 2))
            bad[i] = BAD;
    }
}

/* The loader stops while sample number `stop` is read, which is the last; -1: before the first. */
static bool judge_stopped(mg_run *run, int64_t stop)
{
    const int64_t after = mt_max(stop, 0);
    const int64_t *result = mg_result(run, "status, skipped, read");
    if (result[0] == MT_ERR_STOPPED && result[2] == after)
        return true;
    mg_hint(run, "test how->stopped before each sample");
    mg_fail(run,
            "stopped became true in sample %" PRId64 " (0: before): status %" PRId64 " after %" PRId64
            " samples, expected %d",
            after, result[0], result[2], MT_ERR_STOPPED);
    return false;
}

/* Begins a call with n samples of a set of `count`, of which some are bad; returns index, which is to be filled. */
static int64_t *begin_collate(mg_run *run, int64_t n, const uint8_t *bad, int64_t count, int64_t seed, int64_t skip,
                              int64_t stop)
{
    mg_begin(run, "mt_collate");
    mg_out(run, "status, skipped, read", MT_I64, MT_SHAPE(3));
    mg_out(run, "x", MT_F32, MT_SHAPE(n, FIELDS));
    mg_out(run, "y", MT_I32, MT_SHAPE(n));
    int64_t *index = mg_inout(run, "index", MT_I64, MT_SHAPE(n));
    memcpy(mg_in(run, "bad", MT_U8, MT_SHAPE(count)), bad, (size_t)count);
    mg_i64(run, "seed", seed);
    mg_i64(run, "epoch", 3);
    mg_i64(run, "skip", skip);
    mg_i64(run, "stop in sample", stop);
    return index;
}

/* *skipped is defined for the status MT_OK only. */
static bool expect_result(mg_run *run, const int64_t result[2])
{
    const int64_t *got = mg_result(run, "status, skipped, read");
    if (got[0] != result[0])
        mg_fail(run, "the status is %" PRId64 ", expected %" PRId64, got[0], result[0]);
    else if (result[0] == MT_OK && got[1] != result[1])
        mg_fail(run, "*skipped is %" PRId64 ", expected %" PRId64, got[1], result[1]);
    else
        return true;
    return false;
}

/* A batch of one sample, with 1500 bad ones before the next good one, and a batch of none. */
static void skip_many(mg_run *run)
{
    enum { GOOD_ONE = 1500, COUNT = GOOD_ONE + 100 };
    const int64_t found = GOOD_ONE;
    uint8_t bad[COUNT];
    memset(bad, BAD, sizeof bad);
    bad[GOOD_ONE] = GOOD;
    for (int64_t n = 1; n >= 0; n--) {
        mg_part(run, n ? "many bad samples" : "no samples",
                n ? "samples 0 to 1499 are bad: try each sample of the set, however many they are"
                  : "a batch of no samples: *skipped = 0");
        begin_collate(run, n, bad, COUNT, 7, 1, 0);
        if (!mg_call(run) || !expect_result(run, (const int64_t[]){ MT_OK, n * GOOD_ONE }) ||
            !expect_whole(run, "index", &found, n))
            return;
    }
}

/* stop: in this sample; 0: not at all. */
static bool collate_once(mg_run *run, const char *part, const data_case *c, const uint8_t bad[SET], int64_t stop,
                         bool searched)
{
    int64_t seed = (int64_t)mt_rng_u64(mg_rng(run)), result[2], want[N];
    double x[N * FIELDS] = { 0 };
    mg_part(run, part, NULL);
    int64_t *index = begin_collate(run, N, bad, SET, seed, c->spread, stop);
    for (int n = 0; n < N; n++)
        want[n] = index[n] = n == 0 ? SET - 1 : mg_pick(mg_rng(run), 1, SET - 2);
    expect_batch(result, want, x, bad, seed, c->spread);
    if (!(searched ? mg_shared_call(run) : mg_call(run)) ||
        !(stop ? judge_stopped(run, stop) : expect_result(run, result)))
        return false;
    const int64_t *got = mg_result(run, "status, skipped, read");
    if (c->kind == 100 && got[2] > SET) {
        mg_hint(run, "try each sample of the set at most once: count the tries, not the samples that remain");
        mg_fail(run, "%" PRId64 " samples were read, but the set has %d, all of them bad", got[2], SET);
        return false;
    }
    return stop || result[0] != MT_OK || /* the other results are not defined */
           (expect_whole(run, "index", want, N) && mg_expect(run, "x", x, NULL) && expect_whole(run, "y", want, N));
}

void mg_05_collate(mg_run *run, const void *one_case)
{
    enum { BEFORE = -1 };
    const data_case *c = one_case; /* kind: percent of bad samples, negative: of lost ones; spread: skip */
    uint8_t bad[SET];
    bool good = true;
    for (int t = 0; t < 2 * CALLS && good; t++) {
        draw_bad(mg_rng(run), bad, c->kind);
        good = collate_once(run, NULL, c, bad, 0, false);
    }
    if (c->kind < 0)
        memset(bad, GOOD, SET), bad[0] = LOST;
    bad[SET - 1] = c->kind ? BAD : GOOD; /* after the last sample comes the first */
    good = good && collate_once(run, "a bad sample at the end of the set", c, bad, 0, false);
    if (c->kind == 0)
        good = good && collate_once(run, "stopped before the first sample", c, bad, BEFORE, false) &&
               collate_once(run, "stopped inside a batch", c, bad, N / 2, false) &&
               collate_once(run, "stopped in the last sample", c, bad, N - 1, false);
    if (!good || c->kind <= 0 || c->kind == 100 || !c->spread || !collate_once(run, "several threads", c, bad, 0, true))
        return;
    memset(bad, BAD, SET);
    bad[SET - 2] = GOOD; /* the last that is tried for index[0] */
    if (collate_once(run, "one good sample", c, bad, 0, false))
        skip_many(run);
}
