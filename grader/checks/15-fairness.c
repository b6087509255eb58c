/* 15-fairness.c -- how the checks of fairness and slowdown run (step 15.14). Rows: 15-scale.c. */
#include "checks/15-scale.h"
#include "checks/15-seconds.h"
#include "checks/fill.h"
#include "plan/scheduler.h"

#include <inttypes.h>
#include <string.h>

/* What is special in a list of values. */
enum { ANY, HALF, ZEROS, ONLY, LONG, NONE, ONE, MANY };

static void fill_shares(mt_rng *rng, double *x, int64_t n, int64_t is)
{
    static const double units[] = { 1, 1e-6, 1e-100, 1e100 };
    double unit = units[mt_rng_below(rng, MT_COUNT(units))];
    int64_t only = is == ONLY ? mt_rng_below(rng, n) : -1;
    for (int64_t j = 0; j < n; j++) {
        bool zero = is == ZEROS || is == ONLY || (is == HALF && mt_rng_below(rng, 2));
        x[j] = zero && j != only ? 0 : unit * mg_15_real(rng, 0, 9);
    }
}

/* The index is 1 / (1 + v) with the relative variance v. */
static double index_of(const double *x, int64_t n)
{
    double sum = 0, variance = 0;
    for (int64_t j = 0; j < n; j++)
        sum += x[j];
    for (int64_t j = 0; j < n; j++)
        variance += (x[j] * (double)n / sum - 1) * (x[j] * (double)n / sum - 1) / (double)n;
    return sum > 0 ? 1 / (1 + variance) : 1;
}

void mg_15_fairness(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const mg_idea tries[] = {
        { .times = 8 },
        { "values of 0", NULL, HALF, .times = 6 },
        { "only values of 0", "where all have nothing, nobody has more", ZEROS, .times = 2 },
        { "all but one are 0", NULL, ONLY },
        { "long times", "times are int64_t: a float rounds them", LONG, .times = 6 },
        { "no values", "an empty list is fair", NONE },
        { "one value", NULL, ONE },
        { "many values", "there may be any number of values", MANY },
    };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        mt_rng *rng = mg_rng(run);
        int64_t unit = t.is == LONG ? (1 << 25) + 1 : 1; /* seconds: an f32 does not have them */
        int64_t n = t.is == NONE   ? 0
                    : t.is == ONE  ? 1
                    : t.is == MANY ? 70001
                                   : mg_pick(rng, 2, 64),
                times[2] = { mg_pick(rng, 0, 99) * unit, 0 };
        mt_sched_job job = { mg_pick(rng, 0, 99) * unit, 1, 1, mg_pick(rng, 1, 99) * unit, 99 * unit, 0 };
        double index, slowdown;
        times[0] += job.arrival;
        times[1] = times[0] + mg_pick(rng, 1, 999) * unit;
        mg_begin(run, "mt_sched_fairness, mt_sched_slowdown");
        mg_out(run, "fairness", MT_I64, MT_SHAPE(1));
        mg_out(run, "slowdown", MT_I64, MT_SHAPE(1));
        double *x = mg_in(run, "x", MT_I64, MT_SHAPE(n));
        fill_shares(rng, x, n, t.is);
        memcpy(mg_in(run, "job", MT_I64, MT_SHAPE(6)), &job, sizeof job);
        memcpy(mg_in(run, "run", MT_I64, MT_SHAPE(2)), times, sizeof times);
        if (!mg_call(run))
            return;
        memcpy(&index, mg_result(run, "fairness"), sizeof index);
        memcpy(&slowdown, mg_result(run, "slowdown"), sizeof slowdown);
        double want = index_of(x, n), waited = (double)(times[1] - job.arrival) / (double)job.seconds, zeros = 0;
        for (int64_t j = 0; j < n; j++)
            zeros += x[j] == 0;
        if (!mg_15_close_to(index, want) || !mg_15_close_to(slowdown, waited)) {
            mg_fail(run,
                    "of %" PRId64 " values, %g of which are 0: %.9g, expected %.9g; a slowdown of %.9g, expected %.9g",
                    n, zeros, index, want, slowdown, waited);
            return;
        }
    }
}
