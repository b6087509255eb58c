/* planner.c -- the time and the price of a strategy, and the search for the best one; see plan/planner.h.
 *
 * The search is exact. A group is all strategies with the same dp, pp and tp. Groups are visited in order of a bound
 * that none of their strategies can be better than, until that bound is not better than what was found; inside a
 * group, the first stage alone bounds the time and the memory of all stages. */
#include "plan/planner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- time ---------------------------------------------------------------------------------------------------- */

/* Bytes/s between ranks of a group: `span` neighbours contain it. */
static double speed_within(const mt_plan_problem *p, int64_t span)
{
    /* LAB 15.6 BEGIN  The link inside of a machine, or the network. */
    return span <= p->device.machine ? p->device.link : p->device.network;
    /* LAB 15.6 END */
}

double mt_plan_stage_seconds(const mt_plan_problem *p, const mt_plan_strategy *s, const mt_plan_cost *cost,
                             int64_t layers)
{
    double seconds = 0, rate = mt_plan_nominal(p) * p->efficiency;
    /* LAB 15.6 BEGIN  Arithmetic, overhead, and messages of one micro-batch.
     * Hint: cost has all micro-batches of a step. Which neighbours contain a tensor group, and which a pipeline, if
     * tensor ranks are numbered first, then data, then pipe? */
    double of_step = (double)(cost->forward + cost->backward + cost->again) / rate;
    of_step += (double)cost->tensor / speed_within(p, s->tp) +
               (double)(cost->tensor_calls * 2 * (s->tp - 1)) * p->device.latency;
    of_step += (double)cost->pipe / speed_within(p, s->tp * s->dp * s->pp);
    seconds = of_step / (double)s->micro + (double)layers * p->overhead;
    /* LAB 15.6 END */
    return seconds;
}

double mt_plan_data_seconds(const mt_plan_problem *p, const mt_plan_strategy *s, const mt_plan_cost *cost, double busy)
{
    double seconds = 0;
    /* LAB 15.6 BEGIN  The messages, less what backward hides. */
    seconds = (double)cost->data / speed_within(p, s->tp * s->dp);
    if (s->pp == 1)
        seconds = fmax(0, seconds - busy * 2 / 3);
    /* LAB 15.6 END */
    return seconds;
}

void mt_plan_utilisation(double *mfu, double *hfu, double flops, double again, double seconds, int64_t devices,
                         double nominal)
{
    /* LAB 15.7 BEGIN  Both have the same time, which contains what is computed again; one of them counts it as work. */
    *mfu = flops / (seconds * (double)devices * nominal);
    *hfu = (flops + again) / (seconds * (double)devices * nominal);
    /* LAB 15.7 END */
}

/* Days and dollars of the run, from the seconds of a step. */
static void price(mt_plan_estimate *e, const mt_plan_problem *p, const mt_plan_strategy *s)
{
    /* LAB 15.7 BEGIN  A run has whole steps; all devices are paid for as long as it takes. */
    double steps = ceil(p->tokens / (double)(p->batch * p->time)), seconds = steps * e->step;
    e->days = seconds / 86400;
    e->dollars = seconds / 3600 * p->device.dollars * (double)(s->dp * s->pp * s->tp);
    /* LAB 15.7 END */
}

mt_plan_estimate mt_plan_estimate_of(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    mt_plan_estimate e = { 0 };
    double slowest = 0, flops = 0, again = 0, ranks = (double)(s->dp * s->tp);
    for (int64_t stage = 0; stage < s->pp; stage++) {
        mt_plan_cost cost = mt_plan_cost_of(&p->model, s, stage);
        double busy = mt_plan_stage_seconds(p, s, &cost, mt_plan_layers(&p->model, s->pp, stage));
        e.peak = mt_max(e.peak, cost.peak);
        e.data = fmax(e.data, mt_plan_data_seconds(p, s, &cost, busy));
        slowest = fmax(slowest, busy);
        flops += ranks * (double)(cost.forward + cost.backward);
        again += ranks * (double)cost.again;
    }
    /* LAB 15.7 BEGIN  All stages work at the pace of the slowest one, and are idle while the pipeline fills and
     * empties. */
    e.busy = (double)s->micro * slowest;
    e.bubble = (double)(s->pp - 1) * slowest;
    e.step = e.busy + e.bubble + e.data;
    /* LAB 15.7 END */
    price(&e, p, s);
    mt_plan_utilisation(&e.mfu, &e.hfu, flops, again, e.step, s->dp * s->pp * s->tp, mt_plan_nominal(p));
    return e;
}

/* ---- bounds: what no estimate can be below ------------------------------------------------------------------- */

/* For a group: the model's arithmetic at full speed, shared equally by all of its devices. */
static mt_plan_estimate bound_of_group(const mt_plan_problem *p, const mt_plan_strategy *group)
{
    mt_plan_estimate e = { 0 };
    const mt_plan_model *m = &p->model;
    double C = (double)m->width, T = (double)p->time, rate = mt_plan_nominal(p) * p->efficiency;
    double devices = (double)(group->dp * group->pp * group->tp);
    /* LAB 15.8 BEGIN  Seconds of a step, with the arithmetic only (15.4, all stages together), and its price.
     * Hint: a bound may be too low, and never too high; it costs no call of mt_plan_cost_of. */
    double weights = (double)m->layers * 12 * C * C + (double)m->vocabulary * C;
    double token = 6 * weights + 6 * (double)m->layers * (T + 1) * C;
    e.step = (double)p->batch * T * token / (rate * devices) * (1 - 1e-9);
    price(&e, p, group);
    /* LAB 15.8 END */
    return e;
}

/* For a strategy: its first stage alone. */
static mt_plan_estimate bound_of(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    mt_plan_estimate e = { 0 };
    mt_plan_cost cost = mt_plan_cost_of(&p->model, s, 0);
    double busy = mt_plan_stage_seconds(p, s, &cost, mt_plan_layers(&p->model, s->pp, 0));
    /* LAB 15.8 BEGIN  The other stages can only make the peak larger and the step longer.
     * Hint: with pp = 1 there are no others. With pp > 1 backward hides no message, so what the first stage takes is
     * taken by every step. A product of 1 - 1e-9 makes up for roundings. */
    e.peak = cost.peak;
    e.step = (double)(s->micro + s->pp - 1) * busy + mt_plan_data_seconds(p, s, &cost, busy);
    e.step *= 1 - 1e-9;
    price(&e, p, s);
    /* LAB 15.8 END */
    return e;
}

/* ---- the search ---------------------------------------------------------------------------------------------- */

/* What is looked for: the least of `value` among strategies within these limits. */
typedef struct search {
    const mt_plan_problem *problem;
    double (*value)(const mt_plan_estimate *e);
    double memory, days, dollars;
    mt_plan_answer best;
    double least; /* value of best; INFINITY: none yet */
} search;

static double days_of(const mt_plan_estimate *e)
{
    return e->days;
}

static double dollars_of(const mt_plan_estimate *e)
{
    return e->dollars;
}

static double bytes_of(const mt_plan_estimate *e)
{
    return (double)e->peak;
}

/* Whether an estimate, or a bound, is within the limits and better than what was found. */
static bool improves(const search *s, const mt_plan_estimate *e)
{
    bool is = false;
    /* LAB 15.8 BEGIN  A limit itself is allowed. */
    is = (double)e->peak <= s->memory && e->days <= s->days && e->dollars <= s->dollars && s->value(e) < s->least;
    /* LAB 15.8 END */
    return is;
}

typedef struct group {
    mt_plan_strategy strategy;
    mt_plan_estimate bound;
    double key;
} group;

static int by_key(const void *a, const void *b)
{
    const group *g = a, *h = b;
    return g->key < h->key ? -1 : g->key > h->key;
}

static void try_group(search *s, mt_plan_strategy at)
{
    const mt_plan_problem *p = s->problem;
    do {
        /* LAB 15.8 BEGIN  An estimate only where the bound improves; what it says is kept if it improves, too. */
        mt_plan_estimate bound = bound_of(p, &at);
        if (!improves(s, &bound))
            continue;
        mt_plan_estimate e = p->estimate(p, &at);
        if (improves(s, &e)) {
            s->least = s->value(&e);
            s->best.strategy = at;
            s->best.estimate = e;
        }
        /* LAB 15.8 END */
    } while (mt_plan_next(&at, p));
}

/* Whether anything is within the limits; s->best is then the least. */
static bool run(search *s)
{
    int64_t count;
    mt_plan_strategy *grid = mt_plan_grid(&count, s->problem);
    group *groups = malloc((size_t)(count + 1) * sizeof *groups);
    MT_CHECK(groups, "out of memory");
    for (int64_t i = 0; i < count; i++) {
        groups[i] = (group){ grid[i], bound_of_group(s->problem, &grid[i]), 0 };
        groups[i].key = s->value(&groups[i].bound);
    }
    qsort(groups, (size_t)count, sizeof *groups, by_key);
    s->least = INFINITY;
    /* LAB 15.8 BEGIN  From the best bound on; a group whose bound does not improve has nothing that does. */
    for (int64_t i = 0; i < count; i++)
        if (improves(s, &groups[i].bound))
            try_group(s, groups[i].strategy);
    /* LAB 15.8 END */
    free(groups);
    free(grid);
    return s->least < INFINITY;
}

/* ---- what would fit ------------------------------------------------------------------------------------------ */

/* The nearest to a plan when there is none, and what is missing. Limits are taken away from the last one on. */
static mt_plan_why nearest(mt_plan_answer *out, const mt_plan_problem *p)
{
    search s = { p, days_of, (double)p->device.memory, INFINITY, INFINITY, { 0 }, INFINITY };
    mt_plan_why why = MT_PLAN_NO_DOLLARS;
    /* LAB 15.9 BEGIN  The fastest that fits says whether memory or days are missing; else dollars are.
     * Hint: call `run` again with another value, or with other limits. Where nothing fits, the nearest strategy needs
     * the fewest bytes; of those that fit in days, it is the cheapest. */
    if (!run(&s)) {
        why = MT_PLAN_NO_MEMORY;
        s.value = bytes_of;
        s.memory = INFINITY;
        run(&s);
    } else if (s.best.estimate.days > p->days) {
        why = MT_PLAN_NO_DAYS;
    } else {
        s.value = dollars_of;
        s.days = p->days;
        run(&s);
    }
    /* LAB 15.9 END */
    *out = s.best;
    out->why = why;
    return why;
}

static mt_status refuse(const mt_plan_answer *a, const mt_plan_problem *p)
{
    const mt_plan_strategy *s = &a->strategy;
    const mt_plan_estimate *e = &a->estimate;
    char how[120];
    snprintf(how, sizeof how,
             "dp %" PRId64 ", pp %" PRId64 ", tp %" PRId64 ", micro-batches of %" PRId64 ", ZeRO %" PRId64, s->dp,
             s->pp, s->tp, s->samples, s->zero);
    if (a->why == MT_PLAN_NO_MEMORY)
        return mt_fail(MT_ERR_ARGUMENT, "plan: nothing fits into %.1f GB of a %s: the least is %.1f GB, with %s",
                       (double)p->device.memory / 1e9, p->device.name, (double)e->peak / 1e9, how);
    if (a->why == MT_PLAN_NO_DAYS)
        return mt_fail(MT_ERR_ARGUMENT, "plan: nothing takes %.4g days or less: the fastest takes %.4g, with %s",
                       p->days, e->days, how);
    return mt_fail(MT_ERR_ARGUMENT, "plan: nothing costs $%.4g or less in time: the cheapest costs $%.4g, with %s",
                   p->dollars, e->dollars, how);
}

static bool positive(double x)
{
    return x > 0 && isfinite(x);
}

/* NULL, or why this is not a problem. */
static const char *check(const mt_plan_problem *p)
{
    const mt_plan_model *m = &p->model;
    if (m->vocabulary < 1 || m->block < 1 || m->layers < 1 || m->heads < 1 || m->width < 1 || m->width % m->heads)
        return "a model has tokens, positions, layers, and heads that divide its width";
    if (p->devices < 1 || p->batch < 1 || p->time < 1 || !positive(p->tokens))
        return "there is at least one device, sample and token";
    if (p->time > m->block)
        return "samples are longer than the model's context";
    if (!positive(mt_plan_nominal(p)) || !positive(p->efficiency) || !positive(p->device.link) ||
        !positive(p->device.network) || p->device.machine < 1)
        return "speeds and the efficiency are above 0, and a machine has a device";
    if (!(p->device.dollars >= 0) || !(p->device.latency >= 0) || !(p->overhead >= 0) || p->device.memory < 0)
        return "prices, memory and times are not below 0";
    return p->days > 0 && p->dollars > 0 ? NULL : "limits of days and dollars are above 0 (INFINITY: none)";
}

mt_status mt_plan_best(mt_plan_answer *out, const mt_plan_problem *problem)
{
    mt_plan_problem p = *problem;
    const char *refused = check(&p);
    if (refused)
        return mt_fail(MT_ERR_ARGUMENT, "plan: %s", refused);
    p.estimate = p.estimate ? p.estimate : mt_plan_estimate_of;
    search s = {
        &p,      p.goal == MT_PLAN_FASTEST ? days_of : dollars_of, (double)p.device.memory, p.days, p.dollars, { 0 },
        INFINITY
    };
    if (run(&s)) {
        *out = s.best;
        return MT_OK;
    }
    nearest(out, &p);
    return refuse(out, &p);
}
