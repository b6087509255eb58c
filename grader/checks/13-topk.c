/* 13-topk.c -- how the checks of steps 13.16 to 13.18 run: the largest elements, and the step after local training.
 * Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define EPS 0x1p-24

enum { MOST = 300, RANKS = 4, SLOTS = 4, ALL_REDUCE = 0, ALL_GATHER = 2 /* as mt_collective_kind */ };

static float sum_of(const float *x, const float *error, int64_t i)
{
    return x[i] + error[i];
}

/* Which elements are sent: of equal sizes the first. */
static void choose(bool *sent, const float *x, const float *error, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++) {
            float other = fabsf(sum_of(x, error, j)), own = fabsf(sum_of(x, error, i));
            before += other > own || (other == own && j < i);
        }
        sent[i] = before < k;
    }
}

static void fill(mg_run *run, float *x, float *error, int64_t n, compress_about about)
{
    mg_fill(mg_rng(run), x, n, (mg_dist)MIXED(-10, 3));
    if (about != COMPRESS_FIRST && about != COMPRESS_TIES)
        mg_fill(mg_rng(run), error, n, (mg_dist)MIXED(-10, 3));
    for (int64_t i = 0; i < n && about == COMPRESS_TIES; i++)
        x[i] = (float)(mt_rng_below(mg_rng(run), 5) - 2);
}

/* As many elements as a model has, the largest of which are known. */
static bool pack_many(mg_run *run)
{
    enum { K = 7 };
    int64_t place[K], n = MG_13_MANY, at = 0;
    mg_begin(run, "mt_topk_pack");
    mg_out(run, "index", MT_I32, MT_SHAPE(K));
    mg_out(run, "value", MT_F32, MT_SHAPE(K));
    float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
    for (int64_t i = 0; i < n; i++)
        error[i] = x[i] = mt_rng_uniform(mg_rng(run)) - 0.5f;
    for (int64_t j = 0; j < K; j++) { /* one in each stretch: their sizes are above 2, those of all others below 1 */
        place[j] = n / K * j + mt_rng_below(mg_rng(run), n / K);
        x[place[j]] = (float)(j % 2 ? -3 - j : 3 + j);
    }
    if (!mg_call(run))
        return false;
    const int32_t *index = mg_result(run, "index");
    const float *value = mg_result(run, "value"), *kept = mg_result(run, "error");
    for (int64_t i = 0; i < n; i++) {
        float v = sum_of(x, error, i);
        bool sent = at < K && place[at] == i;
        if (kept[i] == (sent ? 0 : v) && (!sent || (index[at] == i && value[at] == v))) {
            at += sent;
            continue;
        }
        if (sent)
            mg_fail(run,
                    "%d of %" PRId64 " elements: number %" PRId64 " is element %d, %.9g; expected %" PRId64 ", %.9g", K,
                    n, at, (int)index[at], (double)value[at], i, (double)v);
        else
            mg_fail(run, "%d of %" PRId64 " elements: error[%" PRId64 "] is %.9g, expected %.9g", K, n, i,
                    (double)kept[i], (double)v);
        return false;
    }
    return true;
}

/* Fewer than no elements, and more than there are, for which there is room. */
static void refuse(mg_run *run, int64_t k)
{
    int64_t n = mg_pick(mg_rng(run), 20, MOST);
    mg_begin(run, "may abort: mt_topk_pack");
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_inout(run, "index", MT_I32, MT_SHAPE(n + 1));
    mg_inout(run, "value", MT_F32, MT_SHAPE(n + 1));
    float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
    k = k < 0 ? k : n + k;
    mg_i64(run, "k", k);
    fill(run, x, error, n, COMPRESS_AGAIN);
    if (!mg_call(run) || *(const int64_t *)mg_result(run, "aborted") == 1)
        return;
    mg_hint(run, "keep the MT_CHECK of k: the header says \"Aborts: not 0 <= k <= n\"");
    mg_fail(run, "%" PRId64 " of %" PRId64 " elements were accepted", k, n);
}

void mg_13_topk_pack(mg_run *run, const void *one_case)
{
    compress_about about = ((const compress_case *)one_case)->about;
    if (about == COMPRESS_SIZES && !pack_many(run))
        return;
    for (int try = 0; try < 4; try++) {
        int64_t n = mg_pick(mg_rng(run), 20, MOST), k = mg_pick(mg_rng(run), 1, n - 1), at = 0;
        bool sent[MOST];
        if (about == COMPRESS_SIZES)
            n = try ? 33 : 1, k = (int64_t[]){ 1, 0, 1, 33 }[try];
        mg_begin(run, "mt_topk_pack");
        mg_out(run, "index", MT_I32, MT_SHAPE(k));
        mg_out(run, "value", MT_F32, MT_SHAPE(k));
        float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
        fill(run, x, error, n, about);
        choose(sent, x, error, n, k);
        if (!mg_call(run))
            return;
        const int32_t *index = mg_result(run, "index");
        const float *value = mg_result(run, "value"), *kept = mg_result(run, "error");
        for (int64_t i = 0; i < n; i++) {
            float v = sum_of(x, error, i), want = sent[i] ? 0 : v;
            if (sent[i] && (index[at] != i || value[at] != v)) {
                mg_fail(run,
                        "%" PRId64 " of %" PRId64 " elements: number %" PRId64 " is element %d, %.9g; expected %" PRId64
                        ", %.9g",
                        k, n, at, (int)index[at], (double)value[at], i, (double)v);
                return;
            }
            at += sent[i];
            if (kept[i] != want) {
                mg_fail(run, "%" PRId64 " of %" PRId64 " elements: error[%" PRId64 "] is %.9g, expected %.9g", k, n, i,
                        (double)kept[i], (double)want);
                return;
            }
        }
    }
    for (int64_t k = -1; k <= 1 && about == COMPRESS_SIZES; k += 2)
        refuse(run, k);
}

/* Whether a rank has called collective number k. Rows that are not used are 0, and no array is named to the hub. */
static bool is_called(mg_run *run, int64_t ranks, int64_t k)
{
    const int64_t(*row)[MG_HUB_COLUMNS] = mg_result(run, "rows");
    bool is = false;
    for (int64_t r = 0; r < ranks; r++)
        is = is || row[r * MG_HUB_ROWS + k][MG_HUB_AT] == -1;
    return is;
}

/* Every rank returns the failure of collective number `fails`, and calls no other when it knows of that. */
static bool judge_failure(mg_run *run, int64_t ranks, int64_t fails)
{
    const int64_t *status = mg_result(run, "status");
    const int64_t(*row)[MG_HUB_COLUMNS] = mg_result(run, "rows");
    for (int64_t r = 0; r < ranks; r++, row += MG_HUB_ROWS) {
        if (status[r] != MT_ERR_UNAVAILABLE) {
            mg_hint(run, "return the status of the collective that failed");
            mg_fail(run,
                    "collective %" PRId64 " of %" PRId64 " ranks failed, and rank %" PRId64 " returns status %" PRId64,
                    fails, ranks, r, status[r]);
            return false;
        }
        if (!row[fails + 1][MG_HUB_LATE]) /* or begun before, with a handle */
            continue;
        mg_hint(run, "after a collective that failed no other may be called");
        mg_fail(run, "collective %" PRId64 " of %" PRId64 " ranks failed, and rank %" PRId64 " calls another", fails,
                ranks, r);
        return false;
    }
    return true;
}

/* What all ranks gather, seen by rank 0. */
static bool judge_gathered(mg_run *run, int64_t k)
{
    const int64_t(*row)[MG_HUB_COLUMNS] = mg_result(run, "rows");
    int64_t bytes = 0;
    for (int64_t i = 0; i < MG_HUB_ROWS; i++) /* of rank 0; rows that are not used are 0 */
        bytes += (row[i][MG_HUB_KIND] == ALL_GATHER) * row[i][MG_HUB_N] * mt_dtype_size((mt_dtype)row[i][MG_HUB_DTYPE]);
    if (bytes != 8 * k)
        mg_fail(run, "rank 0 gathers %" PRId64 " bytes for %" PRId64 " elements, expected %" PRId64, bytes, k, 8 * k);
    return bytes == 8 * k;
}

static bool same_bits(mg_run *run, int64_t ranks, int64_t n)
{
    const float *got = mg_result(run, "data");
    for (int64_t r = 1; r < ranks; r++)
        if (memcmp(got, got + r * n, (size_t)n * sizeof *got) != 0) {
            mg_fail(run, "ranks 0 and %" PRId64 " have other bits", r);
            return false;
        }
    return true;
}

typedef struct means {
    double want[RANKS * MOST], tolerance[RANKS * MOST], kept[RANKS * MOST];
} means;

/* What rank r sends, for the means of all; what it keeps. */
static void add_sent(means *m, const float *data, const float *error, int64_t r, int64_t ranks, int64_t n, int64_t k)
{
    bool sent[MOST];
    choose(sent, data, error, n, k);
    for (int64_t i = 0; i < n; i++) {
        double v = (double)sum_of(data, error, i);
        m->kept[r * n + i] = sent[i] ? 0 : v;
        for (int64_t to = 0; to < ranks && sent[i]; to++) {
            m->want[to * n + i] += v / (double)ranks;
            m->tolerance[to * n + i] += (double)(ranks + 2) * EPS * fabs(v / (double)ranks);
        }
    }
}

static bool mean_of_largest(mg_run *run, int64_t ranks, int64_t k, int64_t fails, bool bytes)
{
    int64_t n = mg_pick(mg_rng(run), 20, MOST);
    means m = { 0 };
    k = k < 0 ? mg_pick(mg_rng(run), 1, n / 2) : k;
    mg_begin(run, "mt_topk_all_reduce");
    mg_out(run, "status", MT_I64, MT_SHAPE(ranks));
    mg_inout(run, "rows", MT_I64, MT_SHAPE(ranks, MG_HUB_ROWS, MG_HUB_COLUMNS));
    float *data = mg_inout(run, "data", MT_F32, MT_SHAPE(ranks, n));
    float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(ranks, n));
    ((int64_t *)mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_HUB_NUMBERS)))[MG_HUB_FAILS] = fails;
    mg_i64(run, "k", k);
    for (int64_t r = 0; r < ranks; r++) {
        fill(run, data + r * n, error + r * n, n, COMPRESS_AGAIN);
        add_sent(&m, data + r * n, error + r * n, r, ranks, n, k);
    }
    if (!mg_call(run))
        return false;
    if (fails >= 0 && is_called(run, ranks, fails))
        return judge_failure(run, ranks, fails);
    for (int64_t r = 0; r < ranks; r++)
        if (((const int64_t *)mg_result(run, "status"))[r] != MT_OK) {
            mg_fail(run, "rank %" PRId64 " of %" PRId64 " returns status %" PRId64, r, ranks,
                    ((const int64_t *)mg_result(run, "status"))[r]);
            return false;
        }
    return mg_expect(run, "data", m.want, m.tolerance) && mg_expect(run, "error", m.kept, NULL) &&
           same_bits(run, ranks, n) && (!bytes || judge_gathered(run, k));
}

void mg_13_topk(mg_run *run, const void *one_case)
{
    bool good = true, bytes = ((const compress_case *)one_case)->about == COMPRESS_BYTES;
    for (int try = 0; try < 5 && good; try++) /* 2, 3, 4 ranks, and one; the last of nothing */
        good = mean_of_largest(run, 1 + (try + 1) % 4, try == 4 ? 0 : -1, -1, bytes);
    for (int64_t fails = 0; fails < 2 && good && bytes; fails++) /* one gather may bring both */
        good = mean_of_largest(run, 3, -1, fails, bytes);
}

/* ---- the step after local training ------------------------------------------------------------------------------ */

/* The rule of mt_outer_delay. */
static int64_t delay_of(int64_t seed, int64_t rank, int64_t round, int64_t slots)
{
    mt_rng all = mt_rng_new((uint64_t)seed, MT_STREAM_USER + (uint64_t)rank);
    mt_rng rng = mt_rng_substream(&all, (uint64_t)round);
    return mt_rng_below(&rng, slots);
}

typedef struct round_of {
    int64_t n, ranks, slots, seed, round, fails;
    float lr, momentum;
    const float *global, *local, *velocity, *pending; /* before the step, of all ranks */
} round_of;

/* What is applied of element i, before the mean; the sum of sizes. */
static double due(const round_of *o, int64_t i, double *size)
{
    double sum = 0;
    for (int64_t r = 0; r < o->ranks; r++) {
        double d = (double)o->global[r * o->n + i] - (double)o->local[r * o->n + i];
        double waits = (double)o->pending[(r * o->slots + o->round % o->slots) * o->n + i];
        bool is_now = delay_of(o->seed, r, o->round, o->slots) == 0;
        sum += waits + (is_now ? d : 0);
        *size += fabs(waits) + (is_now ? fabs((double)o->global[i]) + fabs((double)o->local[r * o->n + i]) : 0);
    }
    return sum;
}

static bool judge_pending(mg_run *run, const round_of *o)
{
    const float *got = mg_result(run, "pending");
    for (int64_t r = 0; r < o->ranks; r++)
        for (int64_t q = 0; q < o->slots; q++)
            for (int64_t i = 0; i < o->n; i++) {
                int64_t at = (r * o->slots + q) * o->n + i;
                double d = (double)o->global[r * o->n + i] - (double)o->local[r * o->n + i];
                int64_t later = (o->round + delay_of(o->seed, r, o->round, o->slots)) % o->slots;
                double want = q == o->round % o->slots ? 0 : (double)o->pending[at] + (q == later ? d : 0);
                if (fabs((double)got[at] - want) <= 4 * EPS * (fabs(want) + fabs(d)))
                    continue;
                mg_fail(run,
                        "round %" PRId64 ", rank %" PRId64 ", due in %" PRId64 " rounds: element %" PRId64
                        " of what is pending is %.9g, expected %.9g",
                        o->round, r, (q - o->round % o->slots + o->slots) % o->slots, i, (double)got[at], want);
                return false;
            }
    return true;
}

static bool judge_round(mg_run *run, const round_of *o)
{
    double global[RANKS * MOST], velocity[RANKS * MOST], close[RANKS * MOST], close_velocity[RANKS * MOST];
    for (int64_t r = 0; r < o->ranks; r++)
        for (int64_t i = 0; i < o->n; i++) {
            double size = 0, mean = due(o, i, &size) / (double)o->ranks;
            double before = (double)o->velocity[r * o->n + i], now = (double)o->momentum * before + mean;
            velocity[r * o->n + i] = now;
            global[r * o->n + i] = (double)o->global[i] - (double)o->lr * (mean + (double)o->momentum * now);
            close_velocity[r * o->n + i] = (double)(o->ranks + 6) * EPS * (size + fabs(before));
            close[r * o->n + i] =
                (double)(o->ranks + 12) * EPS * (2 * size + fabs(before) + fabs((double)o->global[i]));
        }
    if (!mg_expect(run, "global", global, close) || !mg_expect(run, "velocity", velocity, close_velocity) ||
        !mg_expect(run, "local", global, close))
        return false;
    const float *got = mg_result(run, "global"), *local = mg_result(run, "local");
    for (int64_t r = 0; r < o->ranks; r++)
        if (memcmp(got, got + r * o->n, (size_t)o->n * sizeof *got) != 0 ||
            memcmp(got, local + r * o->n, (size_t)o->n * sizeof *got) != 0) {
            mg_fail(run, "global and local of rank %" PRId64 " do not have the bits of rank 0's global", r);
            return false;
        }
    return true;
}

static bool judge_status(mg_run *run, const round_of *o)
{
    const int64_t *status = mg_result(run, "status");
    for (int64_t r = 0; r < o->ranks; r++) {
        if (status[r] == (o->fails < 0 ? MT_OK : MT_ERR_UNAVAILABLE))
            continue;
        if (o->fails >= 0) {
            mg_hint(run, "return the status of the collective that failed");
            mg_fail(run, "the all-reduce failed, and rank %" PRId64 " of %" PRId64 " returns status %" PRId64, r,
                    o->ranks, status[r]);
        } else {
            mg_fail(run, "rank %" PRId64 " of %" PRId64 " fails, or its round is not one more", r, o->ranks);
        }
        return false;
    }
    return true;
}

void mg_13_outer(mg_run *run, const void *one_case)
{
    outer_about about = ((const outer_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    for (int try = 0; try < 5; try++) {
        round_of o = { .n = mg_pick(rng, 1, 60),
                       .ranks = mg_pick(rng, 2, RANKS),
                       .slots = about == OUTER_LATE ? SLOTS : 1,
                       .fails = about == OUTER_LATE && try == 4 ? 0 : -1 };
        o.lr = about == OUTER_MOMENTUM ? 0.7f : 1, o.momentum = about == OUTER_MOMENTUM ? 0.9f : 0;
        o.seed = mg_pick(rng, 0, 1 << 30), o.round = mg_pick(rng, 0, 50) + (try == 3 ? (int64_t)1 << 33 : 0);
        mg_begin(run, "mt_outer_step");
        mg_out(run, "status", MT_I64, MT_SHAPE(o.ranks));
        mg_inout(run, "rows", MT_I64, MT_SHAPE(o.ranks, MG_HUB_ROWS, MG_HUB_COLUMNS));
        float *global = mg_inout(run, "global", MT_F32, MT_SHAPE(o.ranks, o.n));
        float *local = mg_inout(run, "local", MT_F32, MT_SHAPE(o.ranks, o.n));
        float *velocity = mg_inout(run, "velocity", MT_F32, MT_SHAPE(o.ranks, o.n));
        float *pending = mg_inout(run, "pending", MT_F32, MT_SHAPE(o.ranks, o.slots, o.n));
        ((int64_t *)mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_HUB_NUMBERS)))[MG_HUB_FAILS] = o.fails;
        mg_f32(run, "lr", o.lr);
        mg_f32(run, "momentum", o.momentum);
        mg_i64(run, "seed", o.seed);
        mg_i64(run, "round", o.round);
        mg_fill(rng, global, o.n, (mg_dist)NORMAL(0, 1));
        mg_fill(rng, velocity, o.n, (mg_dist)NORMAL(0, 1));
        for (int64_t r = 1; r < o.ranks; r++) {
            memcpy(global + r * o.n, global, (size_t)o.n * sizeof *global);
            memcpy(velocity + r * o.n, velocity, (size_t)o.n * sizeof *velocity);
        }
        mg_fill(rng, local, o.ranks * o.n, (mg_dist)NORMAL(0, 1));
        if (about == OUTER_LATE)
            mg_fill(rng, pending, o.ranks * o.slots * o.n, (mg_dist)NORMAL(0, 1));
        o.global = global, o.local = local, o.velocity = velocity, o.pending = pending;
        if (!mg_call(run) || !judge_status(run, &o))
            return;
        if (o.fails < 0 && (!judge_round(run, &o) || !judge_pending(run, &o)))
            return;
    }
}
