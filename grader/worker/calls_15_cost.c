/* calls_15_cost.c -- how the worker calls the unit cost.c. Each call: result; model, strategy (plan.h), stage. */
#include "worker/calls_15.h"
#include "worker/plan.h"

typedef void part(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage);

static mt_plan_model model_of(const int64_t *sent)
{
    mt_plan_model m;
    memcpy(&m, sent, sizeof m);
    return m;
}

static void call(const mg_value *v, part *run)
{
    mt_plan_model m = model_of(I64(model));
    mt_plan_strategy s = mg_plan_strategy(I64(strategy));
    mt_plan_cost cost = { 0 };
    run(&cost, &m, &s, N(stage));
    memcpy(I64(result), &cost, sizeof cost);
}

static void all(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage)
{
    *cost = mt_plan_cost_of(model, strategy, stage);
}

void mg_call_plan_params(const mg_value *v)
{
    mt_plan_model m = model_of(I64(model));
    mt_plan_strategy s = mg_plan_strategy(I64(strategy));
    I64(result)[0] = mt_plan_params(&m, &s, N(stage));
}

void mg_call_plan_kept(const mg_value *v)
{
    mt_plan_model m = model_of(I64(model));
    mt_plan_strategy s = mg_plan_strategy(I64(strategy));
    I64(result)[0] = mt_plan_kept(&m, &s);
}

void mg_call_plan_state(const mg_value *v)
{
    call(v, mt_plan_state);
}

void mg_call_plan_flops(const mg_value *v)
{
    call(v, mt_plan_flops);
}

void mg_call_plan_wire(const mg_value *v)
{
    call(v, mt_plan_wire);
}

void mg_call_plan_cost(const mg_value *v)
{
    call(v, all);
}
