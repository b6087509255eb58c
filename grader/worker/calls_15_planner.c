/* calls_15_planner.c -- how the worker calls the unit planner.c; it counts the estimates that a search asks for. */
#include <math.h>
#include <stdio.h>

#include "worker/calls_15.h"
#include "worker/plan.h"

/* seconds [2]: of a stage, of data, bits; problem, strategy, cost; layers, microseconds that are busy */
void mg_call_plan_seconds(const mg_value *v)
{
    mt_plan_problem p = mg_plan_problem(I64(problem));
    mt_plan_strategy s = mg_plan_strategy(I64(strategy));
    mt_plan_cost cost;
    memcpy(&cost, I64(cost), sizeof cost);
    double seconds[2] = { mt_plan_stage_seconds(&p, &s, &cost, N(layers)),
                          mt_plan_data_seconds(&p, &s, &cost, 1e-6 * (double)N(busy)) };
    memcpy(I64(seconds), seconds, sizeof seconds);
}

/* mfu, hfu [2] bits; flops, again, seconds, nominal [4] bits; devices */
void mg_call_plan_utilisation(const mg_value *v)
{
    double is[2] = { NAN, NAN }, n[4];
    memcpy(n, I64(numbers), sizeof n);
    mt_plan_utilisation(&is[0], &is[1], n[0], n[1], n[2], N(devices), n[3]);
    memcpy(I64(mfu, hfu), is, sizeof is);
}

void mg_call_plan_estimate(const mg_value *v)
{
    mt_plan_problem p = mg_plan_problem(I64(problem));
    mt_plan_strategy s = mg_plan_strategy(I64(strategy));
    mt_plan_estimate e = mt_plan_estimate_of(&p, &s);
    memcpy(I64(estimate), &e, sizeof e);
}

static int64_t estimates;

static mt_plan_estimate count(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    estimates++;
    return mt_plan_estimate_of(p, s);
}

void mg_call_plan_best(const mg_value *v)
{
    mt_plan_problem p = mg_plan_problem(I64(problem));
    mt_plan_answer answer = { .why = MT_PLAN_FOUND, .strategy.dp = MG_15_UNCHANGED };
    p.estimate = count;
    estimates = 0;
    I64(status, why, estimates)[0] = mt_plan_best(&answer, &p);
    I64(status, why, estimates)[1] = answer.why;
    I64(status, why, estimates)[2] = estimates;
    mg_plan_put_strategy(I64(best), &answer.strategy);
    memcpy(I64(estimate), &answer.estimate, sizeof answer.estimate);
    snprintf((char *)U8(words), (size_t)ARRAY(words)->count, "%s",
             I64(status, why, estimates)[0] == MT_OK ? "" : mt_last_error());
}
