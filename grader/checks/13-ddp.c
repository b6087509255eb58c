/* 13-ddp.c -- how the checks of steps 13.7 to 13.9 run: a backward pass that is a script, on several ranks; values,
 * collectives and times. Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base.h"

enum {
    FEW_PARAMS = 8,
    PARAMS = 70,
    FEW = 5,       /* ranks */
    ALL_REDUCE = 0 /* as mt_collective_kind */
};

/* What is special in a run. LAST: what a row does once (a search, a parameter that is held, a collective that fails);
 * AFTER: the step before had gradients that were not complete; LONG: parameter 1 has more than 64 KiB; MANY: more
 * parameters than a word has bits. */
enum { ANY, SMALL_BUCKETS, ONE_BUCKET, LAST, AFTER, LONG, MANY };

/* ---- a step -------------------------------------------------------------------------------------------------- */

/* A run of some steps, of which the last is judged; samples are those of it. */
typedef struct script {
    int64_t ranks, count, flat, micro, steps, size[PARAMS], place[PARAMS + 1], limit, samples[MG_WORLD_MOST];
    int64_t latency, byte_time, forward, pause, fails;
    mg_bucket bucket[PARAMS];
    bool searched;
    int64_t buckets, held; /* held: its gradient is doubled after backward; -1: none */
    bool after;            /* in the step before the last the gradients of parameters 0 and 1 are not complete */
    const float *given, *initial;
    const int64_t *order;
} script;

static int64_t which(const script *s, int64_t step, int64_t rank, int64_t micro)
{
    return (step * s->ranks + rank) * s->micro + micro;
}

/* One rank, where values are judged: alone it need not call collectives. Some rows have many ranks. */
static int world_of(mt_rng *rng, ddp_about about, int64_t is)
{
    bool counted =
        about == DDP_SENDS || about == DDP_EARLY || about == DDP_EXPOSED || about == DDP_FAILS || about == DDP_ORDER;
    bool many = about == DDP_START || about == DDP_BATCH || about == DDP_UNUSED;
    int kind = is == SMALL_BUCKETS ? (counted ? MG_WORLD_TWO : MG_WORLD_ONE)
               : is == ONE_BUCKET  ? (many ? MG_WORLD_MANY : MG_WORLD_POWER)
                                   : (mt_rng_below(rng, 2) ? MG_WORLD_THREE : MG_WORLD_PRIME);
    return is == LONG ? 2 : is < LAST ? mg_world(rng, kind) : (int)mg_pick(rng, 2, FEW);
}

static script script_of(mt_rng *rng, ddp_about about, int64_t is)
{
    script s = { .micro = 1, .fails = -1, .held = -1 };
    s.steps = about != DDP_START; /* which needs no step, and is graded before it is written */
    s.ranks = world_of(rng, about, is);
    s.count = is == MANY ? mg_pick(rng, 65, PARAMS) : mg_pick(rng, 3, FEW_PARAMS);
    for (int64_t i = 0; i < s.count; i++) {
        s.size[i] = about == DDP_EXPOSED   ? 64
                    : is == LONG && i == 1 ? mg_long_parts(rng, 1, MT_F32, 64 << 10)
                                           : mg_pick(rng, 1, is == MANY ? 9 : 70);
        s.place[i + 1] = s.place[i] + (s.size[i] + 15) / 16 * 16;
    }
    s.flat = s.place[s.count];
    bool whole = is == ONE_BUCKET || is == AFTER || is == MANY;
    s.limit = 4 * (is == SMALL_BUCKETS ? 16 : whole ? s.flat : mg_pick(rng, 17, s.flat));
    s.buckets = mg_13_divide(s.bucket, s.place, s.count, s.limit / 4);
    s.latency = 1000 * mg_pick(rng, 1, 50), s.byte_time = mg_pick(rng, 1, 20);
    s.forward = 1000000, s.pause = 1000 * mg_pick(rng, 1, 100);
    for (int64_t r = 0; r < s.ranks; r++)
        s.samples[r] = about == DDP_UNEVEN ? mg_pick(rng, 0, 9) : 3;
    s.samples[s.ranks - 1] = mt_max(s.samples[s.ranks - 1], 2); /* some rank has samples */
    if (about == DDP_MICRO || about == DDP_SENDS || about == DDP_UNUSED || about == DDP_EARLY || is == AFTER)
        s.micro = mg_pick(rng, 2, 3);
    if ((about == DDP_MICRO || about == DDP_EARLY) && is == LAST)
        s.held = mg_pick(rng, 0, s.count - 1);
    if (about == DDP_AGAIN) /* rank 0 had samples before, and has none now */
        s.steps = 2, s.samples[0] = is == ANY && s.ranks > 1 ? 0 : 3;
    s.after = is == AFTER;
    return s;
}

/* Which gradient comes k-th; -1: none. */
static void fill_order(mt_rng *rng, const script *s, ddp_about about, int64_t *order)
{
    for (int64_t p = 0; p < s->steps * s->ranks * s->micro; p++, order += s->count) {
        bool is_last_step = p >= (s->steps - 1) * s->ranks * s->micro;
        for (int64_t k = 0; k < s->count; k++)
            order[k] = s->count - 1 - k;
        for (int64_t k = s->count - 1; k > 0 && about == DDP_ORDER; k--) {
            int64_t other = mt_rng_below(rng, k + 1), swapped = order[k];
            order[k] = order[other];
            order[other] = swapped;
        }
        for (int64_t k = 0; k < s->count && about == DDP_ORDER && p == 0; k++) /* two are complete in one callback */
            order[k] = k < 2 ? s->count - 2 + k : s->count - 1 - k;
        for (int64_t k = 0; k < s->count; k++) /* parameters 1 and above 63 are used by no rank */
            if (s->after ? !is_last_step && (order[k] == 0 || (order[k] == 1 && p % s->micro > 0))
                         : (about == DDP_UNUSED || (about == DDP_AGAIN && is_last_step)) &&
                               (order[k] == 1 || order[k] > 63 || mt_rng_below(rng, 3) == 0))
                order[k] = -1;
    }
}

static void describe(mg_run *run, script *s, ddp_about about)
{
    mt_rng *rng = mg_rng(run);
    int64_t passes = s->steps * s->ranks * s->micro;
    mg_begin(run, "mt_ddp");
    if (about == DDP_START)
        mg_as_called(run, "mt_ddp_new(&ddp, comm, params, config) on %" PRId64 " ranks, %" PRId64 " parameters",
                     s->ranks, s->count);
    else
        mg_as_called(run,
                     "mt_ddp_begin(ddp, micro=%" PRId64 ", samples), backward, mt_ddp_finish(ddp): %" PRId64
                     " steps on %" PRId64 " ranks, %" PRId64 " parameters in %" PRId64 " buckets",
                     s->micro, s->steps, s->ranks, s->count, s->buckets);
    mg_out(run, "results", MT_I64, MT_SHAPE(s->ranks, MG_DDP_RESULTS));
    mg_inout(run, "rows", MT_I64, MT_SHAPE(s->ranks, MG_HUB_ROWS, MG_HUB_COLUMNS));
    float *parameters = mg_inout(run, "parameters", MT_F32, MT_SHAPE(s->ranks, s->flat));
    mg_fill(rng, parameters, s->ranks * s->flat, (mg_dist)NORMAL(0, 1));
    s->initial = parameters;
    mg_out(run, "gradients", MT_F32, MT_SHAPE(s->ranks, s->flat));
    mg_out(run, "has a gradient", MT_I64, MT_SHAPE(s->ranks, s->count));
    memcpy(mg_in(run, "sizes", MT_I64, MT_SHAPE(s->count)), s->size, (size_t)s->count * sizeof *s->size);
    const int64_t numbers[MG_DDP_NUMBERS] = { s->latency, s->byte_time, s->fails,   s->limit,
                                              s->micro,   s->steps,     s->forward, s->held };
    memcpy(mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_DDP_NUMBERS)), numbers, sizeof numbers);
    int64_t *samples = mg_in(run, "samples", MT_I64, MT_SHAPE(s->steps, s->ranks));
    for (int64_t i = 0; i < s->steps * s->ranks; i++)
        samples[i] = i < (s->steps - 1) * s->ranks ? 3 : s->samples[i % s->ranks];
    float *given = mg_in(run, "gradients of backward", MT_F32, MT_SHAPE(passes, s->flat));
    mg_fill(rng, given, passes * s->flat, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; about == DDP_AGAIN && i < s->flat; i++) /* of the step before: times 0 they are not 0 */
        given[i] = i % 2 ? NAN : INFINITY;
    s->given = given;
    int64_t *order = mg_in(run, "order", MT_I64, MT_SHAPE(passes, s->count));
    fill_order(rng, s, about, order);
    s->order = order;
    int64_t *pause = mg_in(run, "pauses", MT_I64, MT_SHAPE(s->ranks, s->count));
    for (int64_t k = 0; k < s->ranks * s->count; k++)
        pause[k] = s->pause;
}

static bool call(mg_run *run, script *s, ddp_about about)
{
    describe(run, s, about);
    if (!mg_ranks_call(run, s->searched))
        return false;
    const int64_t *result = mg_result(run, "results");
    for (int64_t r = 0; r < s->ranks; r++, result += MG_DDP_RESULTS) {
        if (result[MG_DDP_CALLS] < 0 || result[MG_DDP_CALLS] > MG_HUB_ROWS)
            return mg_fail(run, "rank %" PRId64 ": the worker's record of its collectives is impossible", r);
        if (result[MG_DDP_STATUS] == MT_OK || s->fails >= 0)
            continue;
        mg_hint(run, "all ranks must call the same collectives in the same order, whatever is complete first");
        return mg_fail(run, "rank %" PRId64 " of %" PRId64 " returns status %" PRId64 ": %s", r, s->ranks,
                       result[MG_DDP_STATUS], mg_13_differ(run, s->ranks));
    }
    return true;
}

/* ---- values -------------------------------------------------------------------------------------------------- */

/* Element k of parameter i in the last step: the mean over all samples, and what rounding may change. */
static double want_of(const script *s, int64_t i, int64_t k, double *tolerance)
{
    double sum = 0, size = 0, all = 0;
    for (int64_t r = 0; r < s->ranks; r++)
        all += (double)s->samples[r];
    for (int64_t r = 0; r < s->ranks; r++)
        for (int64_t m = 0; m < (s->samples[r] ? s->micro : 0); m++) {
            int64_t pass = which(s, s->steps - 1, r, m);
            bool is_used = false;
            for (int64_t o = 0; o < s->count; o++)
                is_used |= s->order[pass * s->count + o] == i;
            double g = (double)s->given[pass * s->flat + s->place[i] + k] * (double)s->samples[r] / all;
            g *= i == s->held ? 2 : 1;
            sum += is_used ? g : 0;
            size += is_used ? fabs(g) : 0;
        }
    /* sums of micro-batches and ranks, the share, the products */
    *tolerance = (double)(s->micro + s->ranks + 6) * 0x1p-24 * size;
    return sum;
}

static bool judge_gradient(mg_run *run, const script *s, int64_t i, int64_t k)
{
    const float *got = (const float *)mg_result(run, "gradients") + s->place[i] + k;
    double tolerance, want = want_of(s, i, k, &tolerance);
    for (int64_t r = 0; r < s->ranks; r++) {
        float is = got[r * s->flat];
        if (!(fabs((double)is - want) <= tolerance))
            return mg_fail(run,
                           "%" PRId64 " ranks, %" PRId64 " buckets, %" PRId64 " micro-batches: on rank %" PRId64
                           " element %" PRId64 " of the gradient of parameter %" PRId64 " is %.9g, expected %.9g",
                           s->ranks, s->buckets, s->micro, r, k, i, (double)is, want);
        if (memcmp(&is, got, sizeof is) != 0)
            return mg_fail(run, "ranks 0 and %" PRId64 " have other bits", r);
    }
    return true;
}

static bool judge_gradients(mg_run *run, const script *s)
{
    const int64_t *has = mg_result(run, "has a gradient");
    for (int64_t r = 0; r < s->ranks; r++)
        for (int64_t i = 0; i < s->count; i++)
            if (!has[r * s->count + i])
                return mg_fail(run, "rank %" PRId64 " of %" PRId64 ": parameter %" PRId64 " has no gradient", r,
                               s->ranks, i);
    bool good = true;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t k = 0; k < s->size[i] && good; k++)
            good = judge_gradient(run, s, i, k);
    return good;
}

static bool judge_parameters(mg_run *run, const script *s)
{
    const float *got = mg_result(run, "parameters");
    for (int64_t r = 0; r < s->ranks; r++)
        for (int64_t i = 0; i < s->count; i++)
            for (int64_t k = 0; k < s->size[i]; k++) {
                double is = (double)got[r * s->flat + s->place[i] + k], want = (double)s->initial[s->place[i] + k];
                if (is == want)
                    continue;
                if (k > 0)
                    mg_hint(run, "broadcast all mt_numel elements: parameters have one to three dimensions here");
                return mg_fail(
                    run, "rank %" PRId64 ": element %" PRId64 " of parameter %" PRId64 " is %.9g, rank 0 has %.9g", r,
                    k, i, is, want);
            }
    return true;
}

/* ---- collectives and times ------------------------------------------------------------------------------------- */

typedef int64_t row_of[MG_HUB_COLUMNS];

/* The all-reduces of a rank: the number of samples, then the buckets of every step. */
static bool judge_sends(mg_run *run, const script *s, int64_t rank, const row_of **first)
{
    const row_of *row = (const row_of *)mg_result(run, "rows") + rank * MG_HUB_ROWS;
    int64_t calls = ((const int64_t *)mg_result(run, "results"))[rank * MG_DDP_RESULTS + MG_DDP_CALLS], k = 0;
    while (k < calls && row[k][MG_HUB_KIND] != ALL_REDUCE)
        k++;
    for (int64_t b = -1; b < s->buckets; b++, k++) {
        const mg_bucket *want = b < 0 ? NULL : &s->bucket[b];
        int64_t n = want ? want->end - want->begin : 1, at = want ? 4 * want->begin : -1;
        if (k >= calls || row[k][MG_HUB_KIND] != ALL_REDUCE || row[k][MG_HUB_N] != n ||
            (want && row[k][MG_HUB_AT] != at) || row[k][MG_HUB_DTYPE] != (want ? MT_F32 : MT_I64))
            return mg_fail(run,
                           "rank %" PRId64 ", %" PRId64 " micro-batches: all-reduce %" PRId64
                           " of the step is %s, expected "
                           "%" PRId64 " elements from %" PRId64 " on",
                           rank, s->micro, b + 1, k >= calls ? "missing" : "another", n, at / 4);
        if (row[k][MG_HUB_WAITED] < 0)
            return mg_fail(run, "rank %" PRId64 ": nobody has waited for all-reduce %" PRId64, rank, b + 1);
        if (b == 0)
            *first = &row[k];
    }
    if (k < calls)
        mg_fail(run, "rank %" PRId64 ": %" PRId64 " collectives too many in one step", rank, calls - k);
    return k == calls;
}

/* When bucket b of a rank can be sent: it and those before are complete. Nanoseconds from the first gradient on. */
static int64_t complete_at(const script *s, int64_t rank, int64_t b)
{
    int64_t pass = which(s, 0, rank, s->micro - 1), at = 0;
    if (s->bucket[b].first <= s->held) /* or one before it waits for mt_ddp_finish */
        return s->micro * s->count * s->pause;
    for (int64_t k = 0; k < s->count; k++)
        if (s->order[pass * s->count + k] >= s->bucket[b].first)
            at = ((s->micro - 1) * s->count + k + 1) * s->pause;
    return at;
}

static bool judge_times(mg_run *run, const script *s)
{
    const int64_t *result = mg_result(run, "results");
    int64_t ends = 0, sent[PARAMS] = { 0 }, backward = s->forward + s->micro * s->count * s->pause;
    for (int64_t r = 0; r < s->ranks; r++) {
        const row_of *row = NULL;
        if (!judge_sends(run, s, r, &row))
            return false;
        for (int64_t b = 0; b < s->buckets; b++) {
            int64_t is = row[b][MG_HUB_CALLED] - result[r * MG_DDP_RESULTS + MG_DDP_BEGAN] - s->forward;
            int64_t want = complete_at(s, r, b);
            sent[b] = mt_max(sent[b], want);
            if (is < want - 2 || is > want + 2)
                return mg_fail(run,
                               "rank %" PRId64 " of %" PRId64 ": bucket %" PRId64 " of %" PRId64
                               " is sent %.3f ms after forward, expected %.3f",
                               r, s->ranks, b, s->buckets, 1e-6 * (double)is, 1e-6 * (double)want);
        }
    }
    for (int64_t b = 0; b < s->buckets; b++)
        ends = mt_max(ends, s->forward + sent[b]) + s->latency +
               4 * s->byte_time * (s->bucket[b].end - s->bucket[b].begin);
    ends = mt_max(ends, backward);
    for (int64_t r = 0; r < s->ranks; r++, result += MG_DDP_RESULTS) {
        int64_t took = result[MG_DDP_ENDED] - result[MG_DDP_BEGAN];
        if (took < ends - 4 || took > ends + 4)
            return mg_fail(run, "%" PRId64 " buckets: a step takes %.6f ms, of which backward %.6f; expected %.6f",
                           s->buckets, 1e-6 * (double)took, 1e-6 * (double)backward, 1e-6 * (double)ends);
    }
    return true;
}

/* Collective s->fails fails: every rank says so. One that is waited for at once, a broadcast, is the last. */
static bool judge_failure(mg_run *run, const script *s)
{
    bool at_once = s->fails >= MG_HUB_AT_ONCE;
    int64_t number = at_once ? s->fails - MG_HUB_AT_ONCE : s->fails;
    const int64_t *result = mg_result(run, "results");
    for (int64_t r = 0; r < s->ranks; r++, result += MG_DDP_RESULTS)
        if (result[MG_DDP_STATUS] != MT_ERR_UNAVAILABLE) {
            if (at_once)
                mg_hint(run, "an all-reduce with a handle may fail at once: what it returns goes to note(), too");
            return mg_fail(run, "collective %" PRId64 " failed%s, and rank %" PRId64 " returns status %" PRId64, number,
                           at_once ? " before it had begun" : "", r, result[MG_DDP_STATUS]);
        } else if (number < s->count && result[MG_DDP_CALLS] != number + 1) {
            mg_hint(run, "call no further collective after one has failed");
            return mg_fail(
                run, "the broadcast of parameter %" PRId64 " failed, and rank %" PRId64 " goes on: %" PRId64 " more",
                number, r, result[MG_DDP_CALLS] - number - 1);
        }
    return true;
}

/* Which collective fails; -1: none. First there are the broadcasts, then the number of samples, then the buckets. */
static int64_t fails_of(mt_rng *rng, ddp_about about, const script *s, int64_t is)
{
    int64_t sent = s->count + mg_pick(rng, 1, s->buckets);
    if (about == DDP_FAILS)
        return is == SMALL_BUCKETS ? s->count : is == ONE_BUCKET ? s->count + 1 : sent;
    if (about == DDP_START && is == LAST) /* of a parameter but the last */
        return mg_pick(rng, 0, s->count - 2);
    return about == DDP_SENDS && is == LAST ? MG_HUB_AT_ONCE + sent : -1;
}

void mg_13_ddp(mg_run *run, const void *one_case)
{
    enum { HELD = 1 << DDP_MICRO | 1 << DDP_EARLY, FAILING = 1 << DDP_START | 1 << DDP_SENDS };
    static const mg_idea tries[] = {
        { NULL, NULL, ANY },
        { "buckets of one parameter", NULL, SMALL_BUCKETS, ~(1 << DDP_FAILS) },
        { "one bucket", NULL, ONE_BUCKET, ~(1 << DDP_FAILS) },
        { "the sum of the samples fails", NULL, SMALL_BUCKETS, 1 << DDP_FAILS },
        { "the first bucket fails", NULL, ONE_BUCKET, 1 << DDP_FAILS },
        { NULL, NULL, LAST, ~(HELD | FAILING) },
        { "a parameter that is held",
          "the bucket of a parameter that mt_ddp_hold names, and those behind it, go in mt_ddp_finish", LAST, HELD },
        { "a collective that fails", NULL, LAST, FAILING },
        { "unused before",
          "in the step before, parameter 0 was not used, and 1 in the first micro-batch only: mt_ddp_begin sets all "
          "counts again",
          AFTER, 1 << DDP_AGAIN },
        { "long messages", MG_LONG, LONG, 1 << DDP_AGAIN | 1 << DDP_BATCH },
        { "many parameters", "there may be any number of parameters", MANY, 1 << DDP_UNUSED },
    };
    ddp_about about = ((const ddp_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        script s = script_of(mg_rng(run), about, t.is);
        const row_of *first;
        s.fails = fails_of(mg_rng(run), about, &s, t.is);
        s.searched = (about == DDP_BATCH || about == DDP_UNUSED) && t.is == LAST;
        if (!call(run, &s, about))
            return;
        bool good = s.fails >= 0         ? judge_failure(run, &s)
                    : about == DDP_START ? judge_parameters(run, &s)
                    : about == DDP_EARLY || about == DDP_EXPOSED || about == DDP_ORDER
                        ? judge_times(run, &s) && judge_gradients(run, &s)
                        : judge_gradients(run, &s);
        for (int64_t r = 0; r < s.ranks && good && about == DDP_SENDS && s.fails < 0; r++)
            good = judge_sends(run, &s, r, &first);
        if (!good)
            return;
    }
}
