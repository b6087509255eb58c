/* plan.h -- models, strategies, costs, problems and estimates of lab 15 as arrays of 64-bit integers, in which a double
 * is its bits: what checker and worker tell each other. */
#pragma once

#include <string.h>

#include "plan/planner.h"

enum {
    MG_PLAN_MODEL = sizeof(mt_plan_model) / 8,
    MG_PLAN_STRATEGY = 9,
    MG_PLAN_COST = sizeof(mt_plan_cost) / 8,
    MG_PLAN_ESTIMATE = sizeof(mt_plan_estimate) / 8,
    MG_PLAN_PROBLEM = 6 + 9 + 12,
    MG_PLAN_WORDS = 400,
    MG_15_UNCHANGED = 77, /* what is in *out before a call that may be refused */
};

/* Structs of 64-bit numbers are copied as they are. */
static inline void mg_plan_put_strategy(int64_t *to, const mt_plan_strategy *s)
{
    const int64_t all[MG_PLAN_STRATEGY] = { s->dp,    s->pp,   s->tp,        s->samples, s->time,
                                            s->micro, s->zero, s->recompute, s->dtype };
    memcpy(to, all, sizeof all);
}

static inline mt_plan_strategy mg_plan_strategy(const int64_t *from)
{
    return (mt_plan_strategy){ from[0],           from[1], from[2], from[3],
                               from[4],           from[5], from[6], (mt_recompute)from[7],
                               (mt_dtype)from[8], false };
}

static inline void mg_plan_put_problem(int64_t *to, const mt_plan_problem *p)
{
    const mt_plan_device *d = &p->device;
    const double numbers[] = { d->half,   d->single,     d->link,     d->network, d->latency, d->dollars,
                               p->tokens, p->efficiency, p->overhead, p->days,    p->dollars };
    const int64_t integers[] = { d->memory, d->machine, p->devices, p->batch,       p->time,
                                 p->dtype,  p->goal,    p->zero,    p->zero_divided };
    memcpy(to, &p->model, sizeof p->model);
    memcpy(to + MG_PLAN_MODEL, integers, sizeof integers);
    memcpy(to + MG_PLAN_MODEL + 9, numbers, sizeof numbers);
}

static inline mt_plan_problem mg_plan_problem(const int64_t *from)
{
    mt_plan_problem p = { .device.name = "test" };
    const int64_t *i = from + MG_PLAN_MODEL;
    double n[11];
    memcpy(&p.model, from, sizeof p.model);
    memcpy(n, i + 9, sizeof n);
    p.device = (mt_plan_device){ "test", n[0], n[1], i[0], n[2], n[3], n[4], i[1], n[5], "test", 0 };
    p.devices = i[2], p.batch = i[3], p.time = i[4];
    p.dtype = (mt_dtype)i[5], p.goal = (mt_plan_goal)i[6];
    p.zero = i[7], p.zero_divided = i[8];
    p.tokens = n[6], p.efficiency = n[7], p.overhead = n[8], p.days = n[9], p.dollars = n[10];
    return p;
}
