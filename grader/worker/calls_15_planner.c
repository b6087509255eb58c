/* calls_15_planner.c -- how the worker calls the unit planner.c; it counts the estimates that a search asks for. */
#include <math.h>
#include <stdio.h>

#include "worker/calls_15.h"
#include "worker/plan.h"

/* seconds [2]: of a stage, of data, bits; problem, strategy, cost; layers, microseconds that are busy */
void mg_call_plan_seconds(const mg_value *v)
{
    mt_plan_problem p = mg_plan_problem(v[1].i64s);
    mt_plan_strategy s = mg_plan_strategy(v[2].i64s);
    mt_plan_cost cost;
    memcpy(&cost, v[3].i64s, sizeof cost);
    double seconds[2] = { mt_plan_stage_seconds(&p, &s, &cost, N(4)),
                          mt_plan_data_seconds(&p, &s, &cost, 1e-6 * (double)N(5)) };
    memcpy(v[0].i64s, seconds, sizeof seconds);
}

/* mfu, hfu [2] bits; flops, again, seconds, nominal [4] bits; devices */
void mg_call_plan_utilisation(const mg_value *v)
{
    double is[2] = { NAN, NAN }, n[4];
    memcpy(n, v[1].i64s, sizeof n);
    mt_plan_utilisation(&is[0], &is[1], n[0], n[1], n[2], N(2), n[3]);
    memcpy(v[0].i64s, is, sizeof is);
}

void mg_call_plan_estimate(const mg_value *v) /* estimate; problem, strategy */
{
    mt_plan_problem p = mg_plan_problem(v[1].i64s);
    mt_plan_strategy s = mg_plan_strategy(v[2].i64s);
    mt_plan_estimate e = mt_plan_estimate_of(&p, &s);
    memcpy(v[0].i64s, &e, sizeof e);
}

static int64_t estimates;

static mt_plan_estimate count(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    estimates++;
    return mt_plan_estimate_of(p, s);
}

/* status, why, estimates [3]; strategy; estimate; words; problem */
void mg_call_plan_best(const mg_value *v)
{
    mt_plan_problem p = mg_plan_problem(v[4].i64s);
    mt_plan_answer answer = { .why = MT_PLAN_FOUND, .strategy.dp = MG_15_UNCHANGED };
    p.estimate = count;
    estimates = 0;
    v[0].i64s[0] = mt_plan_best(&answer, &p);
    v[0].i64s[1] = answer.why;
    v[0].i64s[2] = estimates;
    mg_plan_put_strategy(v[1].i64s, &answer.strategy);
    memcpy(v[2].i64s, &answer.estimate, sizeof answer.estimate);
    snprintf((char *)v[3].u8, (size_t)v[3].count, "%s", v[0].i64s[0] == MT_OK ? "" : mt_last_error());
}
