/* 15-seconds.c -- how the checks of times and estimates run (steps 15.6 and 15.7), against 15-oracle.c. Rows:
 * 15-scale.c. */
#include "checks/15-seconds.h"
#include "checks/15-oracle.h"
#include "checks/15-scale.h"
#include "checks/fill.h"
#include "worker/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

double mg_15_real(mt_rng *rng, double low, double high)
{
    return low + (high - low) * (double)mg_pick(rng, 0, 1 << 30) / (1 << 30);
}

void mg_15_spoil(mg_run *run, void *input, const mg_15_wrong *wrong)
{
    mg_part(run, wrong ? wrong->part : NULL, NULL);
    if (wrong)
        memcpy((char *)input + wrong->at, &wrong->value, sizeof wrong->value);
}

bool mg_15_close_to(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fabs(want) || got == want;
}

/* A problem of some hundred to some thousand strategies. */
mt_plan_problem mg_15_pick_problem(mt_rng *rng)
{
    static const int64_t batches[] = { 12, 16, 24, 30, 32, 48 };
    int64_t heads = 2 * mg_pick(rng, 1, 4);
    mt_plan_problem p = { .devices = mg_pick(rng, 5, 40), .batch = batches[mg_pick(rng, 0, 5)], .time = 64 };
    p.model = (mt_plan_model){ mg_pick(rng, 200, 9000), 0, 128, mg_pick(rng, 2, 12), heads, heads * 16 };
    p.device = (mt_plan_device){ "test",
                                 mg_15_real(rng, 2e12, 9e12),
                                 mg_15_real(rng, 1e11, 9e11),
                                 0,
                                 mg_15_real(rng, 1e9, 9e10),
                                 mg_15_real(rng, 1e8, 9e8),
                                 mg_15_real(rng, 0, 3e-5),
                                 1 << mg_pick(rng, 0, 3),
                                 mg_15_real(rng, 1, 9),
                                 "test",
                                 0 };
    p.device.memory = INT64_C(1) << 40;
    p.tokens = mg_15_real(rng, 1e8, 1e9);
    p.dtype = mg_pick(rng, 0, 1) ? MT_BF16 : MT_F32;
    p.efficiency = mg_15_real(rng, 0.2, 0.9);
    p.overhead = mg_15_real(rng, 0, 1e-4);
    p.days = p.dollars = INFINITY;
    p.goal = (mt_plan_goal)mg_pick(rng, 0, 1);
    p.zero = mg_pick(rng, 0, 3);
    p.zero_divided = mg_pick(rng, 0, p.zero);
    return p;
}

void mg_15_put_problem(mg_run *run, const mt_plan_problem *p)
{
    mg_plan_put_problem(mg_in(run, "problem", MT_I64, MT_SHAPE(MG_PLAN_PROBLEM)), p);
}

/* What an estimate has beside its peak, in order. */
static const char *const estimate_names[] = { "busy", "bubble", "data", "step", "days", "dollars", "mfu", "hfu" };

bool mg_15_same_estimate(mg_run *run, const mt_plan_estimate *got, const mt_plan_estimate *want)
{
    const double *is = &got->busy, *be = &want->busy;
    if (got->peak != want->peak)
        return mg_fail(run, "peak %" PRId64 ", expected %" PRId64, got->peak, want->peak);
    for (int i = 0; i < MT_COUNT(estimate_names); i++)
        if (!mg_15_close_to(is[i], be[i]))
            return mg_fail(run, "%s %.9g, expected %.9g", estimate_names[i], is[i], be[i]);
    return true;
}

/* ---- 15.6 and 15.7 --------------------------------------------------------------------------------------------- */

/* Of one rank in an axis there are no messages, as in mt_plan_wire. */
static mt_plan_cost random_cost(mt_rng *rng, seconds_about about, const mt_plan_strategy *s)
{
    mt_plan_cost c = { .forward = mg_pick(rng, 1e9, 9e12), .again = mg_pick(rng, 0, 9e12), .attention = 12345 };
    c.backward = 2 * c.forward;
    if (about == SECONDS_WORK)
        return c;
    c.data = s->dp > 1 ? mg_pick(rng, 1e6, 9e9) : 0;
    c.pipe = s->pp > 1 ? mg_pick(rng, 1e6, 9e9) : 0;
    if (s->tp > 1) {
        c.tensor = mg_pick(rng, 1e6, 9e9);
        c.tensor_calls = mg_pick(rng, 1, mg_pick(rng, 0, 1) ? 99999999 : 99); /* their latency is much, or little */
    }
    return c;
}

/* The messages of all-reduces among the tensor ranks: none has a latency, or half of them. */
static void recognise_latency(mg_run *run, double got, mt_plan_problem p, const mt_plan_strategy *s,
                              const mt_plan_cost *cost, int64_t layers)
{
    const double latency = p.device.latency;
    for (int part = 0; part < 2; part++) {
        p.device.latency = part * latency / 2;
        if (mg_15_close_to(got, mg_plan_stage_seconds(&p, s, cost, layers)))
            mg_hint(run,
                    "each of the tensor calls is a ring of 2 (tp - 1) messages one after the other: so many latencies");
    }
}

void mg_15_seconds(mg_run *run, const void *one_case)
{
    enum { ANY, ONE_STAGE, NO_WORK };
    static const mg_idea tries[] = { { .times = 12 },
                                     { "one stage", .is = ONE_STAGE, .times = 12 },
                                     { "a last micro-batch of 0 s", .is = NO_WORK, .times = 8 } };
    seconds_about about = ((const seconds_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        mt_plan_problem p = mg_15_pick_problem(rng);
        mt_plan_strategy s = { mg_pick(rng, 1, 8),
                               t.is == ONE_STAGE ? 1 : mg_pick(rng, 1, 4),
                               mg_pick(rng, 1, 8),
                               1,
                               64,
                               mg_pick(rng, 1, 9),
                               0,
                               MT_RECOMPUTE_NONE,
                               p.dtype,
                               false };
        mt_plan_cost cost = random_cost(rng, about, &s);
        int64_t layers = mg_pick(rng, 1, 50), busy = t.is == NO_WORK ? 0 : mg_pick(rng, 1, 9000000);
        mg_begin(run, "mt_plan_stage_seconds, mt_plan_data_seconds");
        mg_out(run, "seconds", MT_I64, MT_SHAPE(2));
        mg_15_put_problem(run, &p);
        mg_plan_put_strategy(mg_in(run, "strategy", MT_I64, MT_SHAPE(MG_PLAN_STRATEGY)), &s);
        memcpy(mg_in(run, "cost", MT_I64, MT_SHAPE(MG_PLAN_COST)), &cost, sizeof cost);
        mg_i64(run, "layers", layers);
        mg_i64(run, "busy", busy);
        if (!mg_call(run))
            return;
        double got[2], want[2] = { mg_plan_stage_seconds(&p, &s, &cost, layers),
                                   mg_plan_data_seconds(&p, &s, &cost, 1e-6 * (double)busy) };
        memcpy(got, mg_result(run, "seconds"), sizeof got);
        int at = about == SECONDS_DATA;
        if (!mg_15_close_to(got[at], want[at])) {
            if (about == SECONDS_LINKS)
                recognise_latency(run, got[at], p, &s, &cost, layers);
            mg_fail(run,
                    "dp %" PRId64 ", pp %" PRId64 ", tp %" PRId64 ", %" PRId64 " micro-batches, machines of %" PRId64
                    ": %.9g s, expected %.9g",
                    s.dp, s.pp, s.tp, s.micro, p.device.machine, got[at], want[at]);
            return;
        }
    }
}

void mg_15_utilisation(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const mg_idea tries[] = { { .is = true, .times = 3 }, { "nothing computed again" } };
    mt_rng *rng = mg_rng(run);
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        int64_t devices = mg_pick(rng, 1, 99);
        double n[4] = { mg_15_real(rng, 1e12, 1e15), t.is ? mg_15_real(rng, 1e12, 1e15) : 0, mg_15_real(rng, 1, 9),
                        mg_15_real(rng, 1e12, 1e13) };
        double got[2], speed = n[3] * (double)devices, want[2] = { n[0] / n[2] / speed, (n[0] + n[1]) / n[2] / speed };
        mg_begin(run, "mt_plan_utilisation");
        mg_out(run, "mfu, hfu", MT_I64, MT_SHAPE(2));
        memcpy(mg_in(run, "numbers", MT_I64, MT_SHAPE(4)), n, sizeof n);
        mg_i64(run, "devices", devices);
        if (!mg_call(run))
            return;
        memcpy(got, mg_result(run, "mfu, hfu"), sizeof got);
        if (!mg_15_close_to(got[0], want[0]) || !mg_15_close_to(got[1], want[1])) {
            mg_fail(run, "MFU %.9g and HFU %.9g, expected %.9g and %.9g", got[0], got[1], want[0], want[1]);
            return;
        }
    }
}

void mg_15_estimate(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const mg_idea tries[] = { { .times = 4 },
                                     { "steps without a rest", .is = 99, .times = 2 },
                                     { "many steps", "numbers of steps are int64_t", INT64_C(1) << 40, .times = 2 } };
    mt_rng *rng = mg_rng(run);
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        mt_plan_problem p = mg_15_pick_problem(rng);
        int64_t count, skip;
        mt_plan_strategy *grid = mt_plan_grid(&count, &p), s = grid[mg_pick(rng, 0, count - 1)];
        free(grid);
        if (t.is)
            p.tokens = (double)(p.batch * p.time) * (double)mg_pick(rng, 1, t.is);
        for (skip = mg_pick(rng, 0, 30); skip > 0; skip--) {
            mt_plan_strategy next = s;
            if (mt_plan_next(&next, &p))
                s = next;
        }
        mg_begin(run, "mt_plan_estimate_of");
        mg_out(run, "estimate", MT_I64, MT_SHAPE(MG_PLAN_ESTIMATE));
        mg_15_put_problem(run, &p);
        mg_plan_put_strategy(mg_in(run, "strategy", MT_I64, MT_SHAPE(MG_PLAN_STRATEGY)), &s);
        if (!mg_call(run))
            return;
        mt_plan_estimate got, want = mg_plan_estimate(&p, &s);
        memcpy(&got, mg_result(run, "estimate"), sizeof got);
        if (!mg_15_same_estimate(run, &got, &want))
            return;
    }
}
