/* 05-samplers.c -- how the checks of steps 05.8 to 05.12 run: orders, shares, batches, streams. Rows: 05-data.c. */
#include "checks/05-data.h"
#include "checks/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 6 };

static void *room(int64_t count, int64_t size)
{
    void *p = calloc((size_t)count + 1, (size_t)size);
    MT_CHECK(p, "out of memory");
    return p;
}

int64_t *mg_05_order_of(const int64_t *sampler, int64_t epoch)
{
    int64_t *order = room(sampler[MG_COUNT], sizeof *order);
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
    double *want = room(n, sizeof *want);
    for (int64_t i = 0; i < n; i++)
        want[i] = (double)whole[i];
    bool good = mg_expect(run, name, want, NULL);
    free(want);
    return good;
}

void mg_05_order(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind: shuffled */
    int64_t count = 0, epoch = 0, seed = -1, last = c->kind ? CALLS + 3 : CALLS;
    /* Each second call differs from the one before in seed, epoch or count alone; those of seed 0 in shuffle alone. The
     * first call has seed 0, too, the value of a static variable before any call; the last call has another rank, and
     * behind it comes one with no samples. */
    for (int t = 0; t <= last + 1; t++) {
        if (t > last || (t % 2 == 0 ? t < CALLS : t == 5))
            count = t == 2   ? 70001
                    : t < 4  ? mg_pick(mg_rng(run), 20, 500)
                    : t == 4 ? mg_pick_size(mg_rng(run), 1, 19)
                    : t == 5 ? count + 500
                             : 0;
        if (t == 2 || t == 3 || t == 4)
            epoch = t == 2 ? 1 : mg_pick(mg_rng(run), 2, t == 3 ? 99 : 1LL << 40);
        mg_begin(run, "mt_sampler_order");
        mg_out(run, "order", MT_I64, MT_SHAPE(count));
        int64_t *s = sampler_in(run, count, c->kind && (t < CALLS || t % 2 == 1));
        seed = s[MG_SEED] = t == 3 || t == 5 ? seed : t == 0 || (t >= CALLS && t < last) ? 0 : s[MG_SEED];
        s[MG_RANK] = t == last ? 2 : 0;
        s[MG_WORLD] = t == last ? 3 : 1;
        if (t > last)
            mg_hint(run, "count may be 0: then order has no element, and nothing is written");
        else if (t == last)
            mg_hint(run, "rank 2 of 3: the order is that of the whole set, the same on every rank");
        else if (t > CALLS)
            mg_hint(run, "the same seed, epoch and count as in the call before, but now %s",
                    s[MG_SHUFFLE] ? "shuffled" : "not shuffled: 0, 1, 2, ...");
        mg_i64(run, "epoch", epoch);
        int64_t *order = mg_05_order_of(s, epoch);
        bool good = (t == last ? mg_shared_call(run) : mg_call(run)) && expect_whole(run, "order", order, count);
        free(order);
        if (!good)
            return;
    }
}

/* A set of more samples than an int holds, at the end of a rank's share. */
static bool huge_share(mg_run *run, int64_t drop)
{
    int64_t world = mg_pick(mg_rng(run), 3, 9), count = mg_pick(mg_rng(run), 1LL << 40, 1LL << 41), want[64];
    int64_t length = drop ? count / world : (count + world - 1) / world, rank = mt_rng_below(mg_rng(run), world);
    mg_begin(run, "mt_sampler_length and _place");
    mg_out(run, "length", MT_I64, MT_SHAPE(1));
    mg_out(run, "place", MT_I64, MT_SHAPE(MT_COUNT(want)));
    int64_t *s = sampler_in(run, count, true);
    s[MG_RANK] = rank;
    s[MG_WORLD] = world;
    s[MG_UNEVEN] = drop;
    mg_i64(run, "first k", length - MT_COUNT(want));
    for (int64_t i = 0; i < MT_COUNT(want); i++)
        want[i] = ((length - MT_COUNT(want) + i) * world + rank) % count;
    return mg_call(run) && expect_whole(run, "length", &length, 1) && expect_whole(run, "place", want, MT_COUNT(want));
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

/* Every rank of one world; the checker assigns the samples to the ranks one by one. */
void mg_05_shares(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind: drop; spread: fewer samples than ranks */
    for (int t = 0; t < CALLS; t++) {
        int64_t world = !c->spread && t >= CALLS - 2 ? t - CALLS + 3 : mg_pick(mg_rng(run), 3, 9); /* 1 and 2, too */
        int64_t count = c->spread ? mg_pick(mg_rng(run), 1, world / 2) : mg_pick(mg_rng(run), world, 60);
        if (!c->spread && t == 0) /* nothing to pad or to drop */
            count = world * mg_pick(mg_rng(run), 1, 6);
        if (c->kind && t == 1) /* all are dropped */
            count = mg_pick(mg_rng(run), 0, world - 1);
        if (c->spread && t == 1)
            count = 0;
        if (world < 3)
            count |= 1; /* odd */
        int64_t length = c->kind ? count / world : count / world + (count % world > 0);
        for (int64_t rank = 0; rank < world; rank++) {
            int64_t want[64];
            mg_begin(run, "mt_sampler_length and _place");
            if (count == 0 && c->spread)
                mg_hint(run, "a set of no samples: every rank has 0 of them, with padding too");
            mg_out(run, "length", MT_I64, MT_SHAPE(1));
            mg_out(run, "place", MT_I64, MT_SHAPE(MT_COUNT(want)));
            int64_t *s = sampler_in(run, count, true);
            s[MG_RANK] = rank;
            s[MG_WORLD] = world;
            s[MG_UNEVEN] = c->kind;
            mg_i64(run, "first k", 0);
            memset(want, 0xff, sizeof want);
            for (int64_t card = 0; card < length * world; card++)
                if (card % world == rank)
                    want[card / world] = card % count;
            if (!mg_call(run) || !expect_whole(run, "length", &length, 1) ||
                !expect_whole(run, "place", want, MT_COUNT(want)))
                return;
        }
        if (!huge_share(run, c->kind))
            return;
    }
    static const int64_t wrong[][2] = { { 3, 3 }, { -1, 3 }, { 4, 3 }, { 0, 0 } };
    for (int i = 0; i < MT_COUNT(wrong) && c->kind == 0 && !c->spread; i++)
        if (!refused(run, wrong[i][0], wrong[i][1], 1, "not 0 <= rank < world"))
            return;
}

enum { MOST = 64 /* batches, and samples, that are looked at */ };

static void begin_batches(mg_run *run)
{
    mg_begin(run, "mt_sampler_steps and _batch");
    mg_out(run, "steps, and with drop_last", MT_I64, MT_SHAPE(2));
    mg_out(run, "index", MT_I64, MT_SHAPE(MOST));
    mg_out(run, "size", MT_I64, MT_SHAPE(MOST));
    mg_out(run, "written behind the last", MT_I64, MT_SHAPE(1));
}

/* A set of more batches than an int holds; only the first of them are asked for. */
static void huge_epoch(mg_run *run)
{
    int64_t batch = mg_pick(mg_rng(run), 2, 7), count = mg_pick(mg_rng(run), 1LL << 40, 1LL << 41), index[MOST];
    const int64_t steps[2] = { (count + batch - 1) / batch, count / batch };
    begin_batches(run);
    int64_t *order = mg_in(run, "order", MT_I64, MT_SHAPE(MOST * batch));
    sampler_in(run, count, true);
    mg_i64(run, "batch", batch);
    mt_rng_permutation(mg_rng(run), order, MOST * batch);
    memcpy(index, order, sizeof index);
    mg_hint(run,
            "the number of samples is near 2^40: the number of batches is a quotient of int64_t, do not count them");
    if (mg_call(run) && expect_whole(run, "steps, and with drop_last", steps, 2))
        expect_whole(run, "index", index, MOST);
}

void mg_05_batches(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind 0: the last batch is smaller, 1: it is full, 2: one of several ranks */
    for (int t = 0; t < CALLS; t++) {
        int64_t batch = c->kind == 0 && t == 2 ? 70001 : mg_pick(mg_rng(run), c->kind == 1 ? 1 : 2, 7),
                world = c->kind == 2 ? mg_pick(mg_rng(run), 2, 4) : 1;
        int64_t length = batch * mg_pick(mg_rng(run), 1, 6) + (c->kind != 1 ? mg_pick(mg_rng(run), 1, batch - 1) : 0);
        if (c->kind == 0 && t < 2) /* fewer samples than a batch has, or none */
            length = t ? 0 : mg_pick(mg_rng(run), 1, batch - 1);
        int64_t index[MOST], size[MOST], steps[2] = { (length + batch - 1) / batch, length / batch };
        bool drop = t % 2;
        int64_t rest = c->kind == 2 && t >= 2 ? mg_pick(mg_rng(run), 1, world - 1) : 0;
        int64_t count = length * world + (drop ? rest : -rest); /* the last sample is padded, or some are left out */
        begin_batches(run);
        int64_t *order = mg_in(run, "order", MT_I64, MT_SHAPE(count));
        int64_t *s = sampler_in(run, count, true);
        s[MG_WORLD] = world;
        s[MG_RANK] = world - 1;
        s[MG_UNEVEN] = drop;
        if (rest)
            mg_hint(run, "%" PRId64 " samples for %" PRId64 " ranks, %s: this rank's number is mt_sampler_length",
                    count, world, drop ? "dropped" : "padded");
        mg_i64(run, "batch", batch);
        mt_rng_permutation(mg_rng(run), order, count);
        memset(index, 0xff, sizeof index);
        memset(size, 0xff, sizeof size);
        for (int64_t i = 0; i < mt_min(length, MOST); i++)
            index[i] = order[(i * world + world - 1) % count];
        for (int64_t k = 0; k * batch < length; k++)
            size[k] = mt_min(batch, length - k * batch);
        if (!mg_call(run) || !expect_whole(run, "steps, and with drop_last", steps, 2) ||
            !expect_whole(run, "size", size, MOST) || !expect_whole(run, "index", index, MOST))
            return;
        if (*(const int64_t *)mg_result(run, "written behind the last") > 0) {
            mg_hint(run, "the last batch writes its own n entries of index only, not all of [batch]");
            mg_fail(run, "index[n] or an entry behind it was written in a batch of n samples");
            return;
        }
    }
    if (c->kind == 0 && refused(run, 0, 1, 0, "batch < 1") && refused(run, 0, 1, -1, "batch < 1"))
        huge_epoch(run);
}

void mg_05_sample_rng(mg_run *run, const void *one_case)
{
    enum { N = 64 };
    int64_t want[N], seed = (int64_t)mt_rng_u64(mg_rng(run));
    (void)one_case;
    mg_begin(run, "mt_sample_rng");
    mg_out(run, "first draw", MT_I64, MT_SHAPE(N));
    int64_t *epoch = mg_in(run, "epoch", MT_I64, MT_SHAPE(N)), *index = mg_in(run, "index", MT_I64, MT_SHAPE(N));
    mg_i64(run, "seed", seed);
    for (int i = 0; i < N; i++) {
        epoch[i] = mg_pick(mg_rng(run), 0, i < 60 ? 5 : 1LL << 40);
        index[i] = mg_pick(mg_rng(run), 0, i < 60 ? 60000 : 1LL << 40);
        mt_rng rng = mg_05_sample_stream(seed, epoch[i], index[i]);
        want[i] = mt_rng_u32(&rng);
    }
    if (mg_shared_call(run))
        expect_whole(run, "first draw", want, N);
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

/* Which samples are bad. Of the calls of a row with bad samples, the first has one at the end of the set, the second a
 * single good sample, which is the last one tried for index[0]. Of the calls of a row with lost samples, the first has
 * a single one, behind a bad one. */
static void draw_bad(mt_rng *rng, uint8_t *bad, int64_t percent, int call)
{
    for (int i = 0; i < SET; i++) {
        bad[i] = mt_rng_below(rng, 100) < llabs(percent) ? (percent < 0 ? LOST : BAD) : GOOD;
        if (percent < 0 && bad[i] == GOOD && mt_rng_below(rng, 2)) /* lost ones behind bad ones */
            bad[i] = BAD;
    }
    if (percent > 0 && percent < 100 && call == 1)
        for (int i = 0; i < SET; i++)
            bad[i] = i == SET - 2 ? GOOD : BAD;
    if (percent < 0 && call == 0)
        memset(bad, GOOD, SET);
    if (percent != 0 && call == 0)
        bad[SET - 1] = BAD; /* after the last sample comes the first */
    if (percent < 0 && call == 0)
        bad[0] = LOST;
}

/* The loader stops while sample number `stop` is read, which is the last; -1: before the first. */
static bool judge_stopped(mg_run *run, int64_t stop)
{
    const int64_t after = mt_max(stop, 0);
    const int64_t *result = mg_result(run, "status, skipped, read");
    if (result[0] == MT_ERR_STOPPED && result[2] == after)
        return true;
    mg_hint(run, "keep the test of how->stopped before each sample");
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
        begin_collate(run, n, bad, COUNT, 7, 1, 0);
        mg_hint(run, n ? "samples 0 to 1499 are bad: try each sample of the set, however many they are"
                       : "a batch of no samples: *skipped = 0");
        if (!mg_call(run) || !expect_result(run, (const int64_t[]){ MT_OK, n * GOOD_ONE }) ||
            !expect_whole(run, "index", &found, n))
            return;
    }
}

void mg_05_collate(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind: percent of bad samples, negative: of lost ones; spread: skip */
    bool many = c->kind > 0 && c->kind < 100 && c->spread;
    for (int t = 0; t < CALLS; t++) {
        int64_t seed = (int64_t)mt_rng_u64(mg_rng(run)), result[2], want[N];
        const int64_t stops[] = { -1, N - 1, mg_pick(mg_rng(run), 1, N - 2) }; /* before the first sample, the last */
        int64_t stop = c->kind == 0 && t >= CALLS - 3 ? stops[t - (CALLS - 3)] : 0;
        double x[N * FIELDS] = { 0 };
        uint8_t bad[SET];
        draw_bad(mg_rng(run), bad, c->kind, t);
        int64_t *index = begin_collate(run, N, bad, SET, seed, c->spread, stop);
        for (int n = 0; n < N; n++)
            want[n] = index[n] = n == 0 ? SET - 1 : mg_pick(mg_rng(run), 1, SET - 2);
        expect_batch(result, want, x, bad, seed, c->spread);
        bool called = many && t == 2 ? mg_shared_call(run) : mg_call(run);
        if (!called || (stop && !judge_stopped(run, stop)) || (!stop && !expect_result(run, result)))
            return;
        const int64_t *got = mg_result(run, "status, skipped, read");
        if (c->kind == 100 && got[2] > SET) {
            mg_hint(run, "try each sample of the set at most once: count tries, not the samples left");
            mg_fail(run, "%" PRId64 " samples were read, but the set has %d, all of them bad", got[2], SET);
            return;
        }
        if (stop || result[0] != MT_OK) /* the other results are not defined */
            continue;
        if (!expect_whole(run, "index", want, N) || !mg_expect(run, "x", x, NULL) || !expect_whole(run, "y", want, N))
            return;
    }
    if (many)
        skip_many(run);
}
