/* 13-local.c -- how the checks of steps 13.17 and 13.18 run: after local training. Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"
#include "rows/traffic.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base.h"

#define EPS 0x1p-24

enum { MOST = 60, RANKS = 4, SLOTS = 4, TRIES = 5 };

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

/* Whether a rank's own d is due in the round of the step. */
static bool any_now(const round_of *o)
{
    bool any = false;
    for (int64_t r = 0; r < o->ranks; r++)
        any = any || delay_of(o->seed, r, o->round, o->slots) == 0;
    return any;
}

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

static void describe(mg_run *run, round_of *o, bool none_due)
{
    mt_rng *rng = mg_rng(run);
    mg_begin(run, "mt_outer_step");
    mg_out(run, "status", MT_I64, MT_SHAPE(o->ranks));
    mg_inout(run, "rows", MT_I64, MT_SHAPE(o->ranks, MG_HUB_ROWS, MG_HUB_COLUMNS));
    float *global = mg_inout(run, "global", MT_F32, MT_SHAPE(o->ranks, o->n));
    float *local = mg_inout(run, "local", MT_F32, MT_SHAPE(o->ranks, o->n));
    float *velocity = mg_inout(run, "velocity", MT_F32, MT_SHAPE(o->ranks, o->n));
    float *pending = mg_inout(run, "pending", MT_F32, MT_SHAPE(o->ranks, o->slots, o->n));
    ((int64_t *)mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_HUB_NUMBERS)))[MG_HUB_FAILS] = o->fails;
    mg_f32(run, "lr", o->lr);
    mg_f32(run, "momentum", o->momentum);
    mg_i64(run, "seed", o->seed);
    mg_i64(run, "round", o->round);
    mg_fill(rng, global, o->n, (mg_dist)NORMAL(0, 1));
    mg_fill(rng, velocity, o->n, (mg_dist)NORMAL(0, 1));
    for (int64_t r = 1; r < o->ranks; r++) {
        memcpy(global + r * o->n, global, (size_t)o->n * sizeof *global);
        memcpy(velocity + r * o->n, velocity, (size_t)o->n * sizeof *velocity);
    }
    mg_fill(rng, local, o->ranks * o->n, (mg_dist)NORMAL(0, 1));
    if (o->slots > 1)
        mg_fill(rng, pending, o->ranks * o->slots * o->n, (mg_dist)NORMAL(0, 1));
    for (int64_t r = 0; r < o->ranks && none_due; r++)
        memset(pending + (r * o->slots + o->round % o->slots) * o->n, 0, (size_t)o->n * sizeof *pending);
    o->global = global, o->local = local, o->velocity = velocity, o->pending = pending;
}

void mg_13_outer(mg_run *run, const void *one_case)
{
    outer_about about = ((const outer_case *)one_case)->about;
    static const float rates[][TRIES][2] = {
        [OUTER_MEAN] = { { 1, 0 }, { 0.25f, 0 }, { 1, 0 }, { 0.25f, 0 }, { 1, 0 } },
        [OUTER_MOMENTUM] = { { 0.7f, 0.9f }, { 0.7f, 0.9f }, { 1, 0.9f }, { 0.7f, 0.9f }, { 0.7f, 0.9f } },
        [OUTER_LATE] = { { 1, 0 }, { 0.7f, 0.9f }, { 0.7f, 0.9f }, { 0.25f, 0 }, { 1, 0 } },
    };
    mt_rng *rng = mg_rng(run);
    for (int try = 0; try < TRIES; try++) {
        bool late = about == OUTER_LATE, none_due = late && try == 2;
        round_of o = { .n = mg_pick(rng, 1, MOST),
                       .ranks = mg_pick(rng, 2, RANKS),
                       .slots = late ? SLOTS : 1,
                       .fails = late && try == 4 ? 0 : -1,
                       .lr = rates[about][try][0],
                       .momentum = rates[about][try][1] };
        o.seed = mg_pick(rng, 0, 1 << 30), o.round = mg_pick(rng, 0, 50) + (try == 3 ? (int64_t)1 << 33 : 0);
        while (none_due && any_now(&o))
            o.seed++;
        describe(run, &o, none_due);
        if (none_due)
            mg_hint(run, "nothing is due in this round: d is 0, and global moves by the momentum");
        else if (try > 0)
            mg_hint(run, "lr %g, momentum %g, max_delay %" PRId64 ": the step is lr (mean d + momentum velocity)",
                    (double)o.lr, (double)o.momentum, o.slots - 1);
        if (!mg_ranks_call(run, try == 1) || !judge_status(run, &o))
            return;
        if (o.fails < 0 && (!judge_round(run, &o) || !judge_pending(run, &o)))
            return;
    }
}
