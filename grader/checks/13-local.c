/* 13-local.c -- how the checks of steps 13.17 and 13.18 run: after local training. Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define EPS 0x1p-24

enum { MOST = 60 };

/* The rule of mt_outer_delay. */
static int64_t delay_of(int64_t seed, int64_t rank, int64_t round, int64_t slots)
{
    mt_rng all = mt_rng_new((uint64_t)seed, MT_STREAM_USER + (uint64_t)rank);
    mt_rng rng = mt_rng_substream(&all, (uint64_t)round);
    return mt_rng_below(&rng, slots);
}

typedef struct round_of {
    int64_t n, ranks, slots, seed, round, fails, delay[MG_WORLD_MOST];
    float lr, momentum;
    const float *global, *local, *velocity, *pending; /* before the step, of all ranks */
} round_of;

static void delay_all(round_of *o)
{
    for (int64_t r = 0; r < o->ranks; r++)
        o->delay[r] = delay_of(o->seed, r, o->round, o->slots);
}

/* Whether a rank's own d is due in the round of the step. */
static bool any_now(const round_of *o)
{
    bool any = false;
    for (int64_t r = 0; r < o->ranks; r++)
        any = any || o->delay[r] == 0;
    return any;
}

/* What is applied of element i, before the mean; the sum of sizes. */
static double due(const round_of *o, int64_t i, double *size)
{
    double sum = 0;
    for (int64_t r = 0; r < o->ranks; r++) {
        double d = (double)o->global[r * o->n + i] - (double)o->local[r * o->n + i];
        double waits = (double)o->pending[(r * o->slots + o->round % o->slots) * o->n + i];
        bool is_now = o->delay[r] == 0;
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
                int64_t later = (o->round + o->delay[r]) % o->slots;
                double want = q == o->round % o->slots ? 0 : (double)o->pending[at] + (q == later ? d : 0);
                if (fabs((double)got[at] - want) <= 4 * EPS * (fabs(want) + fabs(d)))
                    continue;
                return mg_fail(run,
                               "round %" PRId64 ", rank %" PRId64 ", due in %" PRId64 " rounds: element %" PRId64
                               " of what is pending is %.9g, expected %.9g",
                               o->round, r, (q - o->round % o->slots + o->slots) % o->slots, i, (double)got[at], want);
            }
    return true;
}

/* On every rank: global and velocity [ranks,n], and how close. */
typedef struct after {
    double *global, *velocity, *close, *close_velocity;
} after;

static void step(const round_of *o, after *a)
{
    for (int64_t i = 0; i < o->n; i++) {
        double size = 0, mean = due(o, i, &size) / (double)o->ranks;
        double before = (double)o->velocity[i], now = (double)o->momentum * before + mean;
        for (int64_t at = i; at < o->ranks * o->n; at += o->n) {
            a->velocity[at] = now;
            a->global[at] = (double)o->global[i] - (double)o->lr * (mean + (double)o->momentum * now);
            a->close_velocity[at] = (double)(o->ranks + 6) * EPS * (size + fabs(before));
            a->close[at] = (double)(o->ranks + 12) * EPS * (2 * size + fabs(before) + fabs((double)o->global[i]));
        }
    }
}

static bool judge_bits(mg_run *run, const round_of *o)
{
    const float *got = mg_result(run, "global"), *local = mg_result(run, "local");
    for (int64_t r = 0; r < o->ranks; r++)
        if (memcmp(got, got + r * o->n, (size_t)o->n * sizeof *got) != 0 ||
            memcmp(got, local + r * o->n, (size_t)o->n * sizeof *got) != 0)
            return mg_fail(
                run, "global and local of rank %" PRId64 " of %" PRId64 " do not have the bits of rank 0's global", r,
                o->ranks);
    return true;
}

static bool judge_round(mg_run *run, const round_of *o)
{
    int64_t all = o->ranks * o->n;
    after a = { mg_doubles(all), mg_doubles(all), mg_doubles(all), mg_doubles(all) };
    step(o, &a);
    bool good = mg_expect(run, "global", a.global, a.close) &&
                mg_expect(run, "velocity", a.velocity, a.close_velocity) &&
                mg_expect(run, "local", a.global, a.close) && judge_bits(run, o);
    free(a.global);
    free(a.velocity);
    free(a.close);
    free(a.close_velocity);
    return good;
}

static bool judge_status(mg_run *run, const round_of *o)
{
    const int64_t *status = mg_result(run, "status");
    for (int64_t r = 0; r < o->ranks; r++) {
        if (status[r] == (o->fails < 0 ? MT_OK : MT_ERR_UNAVAILABLE))
            continue;
        if (o->fails >= 0) {
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
    mg_as_called(run,
                 "mt_outer_step(comm, &outer, local) on %" PRId64 " ranks, n=%" PRId64
                 ", lr=%g, momentum=%g, max_delay=%" PRId64,
                 o->ranks, o->n, (double)o->lr, (double)o->momentum, o->slots - 1);
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

/* What is special in a step, besides a world. */
enum { IDLE = MG_WORLDS, FAILS, LONG, LONGER };

static round_of round_for(mg_run *run, outer_about about, int64_t is)
{
    static const float rates[] = { 1, 0.25f, 0.7f };
    mt_rng *rng = mg_rng(run);
    bool late = about == OUTER_LATE, is_long = is == LONG || is == LONGER;
    round_of o = { .n =
                       is_long ? mg_long_parts(rng, 1, MT_F32, is == LONG ? 64 << 10 : 1 << 20) : mg_pick(rng, 1, MOST),
                   .ranks = mg_world(rng, is < MG_WORLDS ? (int)is
                                          : is == IDLE   ? MG_WORLD_PRIME
                                                         : MG_WORLD_TWO),
                   .slots = late ? mg_pick(rng, 3, 5) : 1, /* also a number that is no power of two */
                   .fails = is == FAILS ? 0 : -1,
                   .lr = rates[mg_pick(rng, 0, 2)],
                   .momentum = about == OUTER_MEAN ? 0 : 0.9f };
    o.seed = mg_pick(rng, 0, 1 << 30);
    o.round = mg_pick(rng, 0, 50) + (is == MG_WORLD_MANY ? (int64_t)1 << 33 : 0);
    delay_all(&o);
    return o;
}

void mg_13_outer(mg_run *run, const void *one_case)
{
    enum { LATE = 1 << OUTER_LATE, MOMENTUM = 1 << OUTER_MOMENTUM };
    static const mg_idea tries[] = {
        { "one rank", "one rank has the mean of its own d", MG_WORLD_ONE },
        { .is = MG_WORLD_THREE },
        { NULL, NULL, MG_WORLD_PRIME, ~LATE },
        { "nothing due", "nothing is due in this round: d is 0, and global moves by the momentum", IDLE, LATE },
        { "many ranks in round 2^33", "rounds are int64_t; " MG_MANY_RANKS, MG_WORLD_MANY },
        { "a collective that fails", "return the status of the collective that failed", FAILS, LATE },
        { .is = MG_WORLD_TWO },
        { "arrays of more than 64 KiB", MG_LONG, LONG, MOMENTUM | LATE },
        { "arrays of more than 1 MiB", MG_LONG, LONGER, MOMENTUM },
    };
    outer_about about = ((const outer_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        round_of o = round_for(run, about, t.is);
        for (; t.is == IDLE && any_now(&o); delay_all(&o))
            o.seed++;
        describe(run, &o, t.is == IDLE);
        if (mg_ranks_call(run, t.is == MG_WORLD_THREE) && judge_status(run, &o) && o.fails < 0 && judge_round(run, &o))
            judge_pending(run, &o);
    }
}
