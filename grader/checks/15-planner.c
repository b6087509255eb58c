/* 15-planner.c -- how the checks of the search run (steps 15.8 and 15.9): answers against every strategy of the grid.
 * Rows: 15-scale.c. */
#include "checks/15-oracle.h"
#include "checks/15-scale.h"
#include "checks/15-seconds.h"
#include "checks/fill.h"
#include "worker/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- 15.8 and 15.9: every strategy ----------------------------------------------------------------------------- */

typedef struct whole_grid {
    int64_t count;
    mt_plan_estimate *of; /* [count] */
} whole_grid;

static whole_grid walk(const mt_plan_problem *p)
{
    whole_grid all = { 0 };
    int64_t groups, room = 0;
    mt_plan_strategy *grid = mt_plan_grid(&groups, p);
    for (int64_t i = 0; i < groups; i++) {
        mt_plan_strategy s = grid[i];
        do {
            if (all.count == room) {
                room = 2 * room + 1024;
                all.of = realloc(all.of, (size_t)room * sizeof *all.of);
                MT_CHECK(all.of, "out of memory");
            }
            all.of[all.count++] = mg_plan_estimate(p, &s);
        } while (mt_plan_next(&s, p));
    }
    free(grid);
    return all;
}

typedef enum least_of { LEAST_DAYS, LEAST_DOLLARS, LEAST_BYTES } least_of;

static double value_of(const mt_plan_estimate *e, least_of of)
{
    return of == LEAST_DAYS ? e->days : of == LEAST_DOLLARS ? e->dollars : (double)e->peak;
}

/* The least of those within the limits; INFINITY: there is none. */
static double least(const whole_grid *all, least_of of, double memory, double days, double dollars)
{
    double best = INFINITY;
    for (const mt_plan_estimate *e = all->of; e < all->of + all->count; e++)
        if ((double)e->peak <= memory && e->days <= days && e->dollars <= dollars)
            best = fmin(best, value_of(e, of));
    return best;
}

/* The dollars of the fastest strategy that fits: a little less allows only others, though a bound may not say so. */
static double dollars_of_fastest(const whole_grid *all, double memory)
{
    const mt_plan_estimate *best = NULL;
    for (const mt_plan_estimate *e = all->of; e < all->of + all->count; e++)
        if ((double)e->peak <= memory && (!best || e->days < best->days))
            best = e;
    return best->dollars;
}

/* A limit between the smallest and the k-th of `n` quantiles of what there is. */
static double quantile(const whole_grid *all, least_of of, double share)
{
    double low = least(all, of, INFINITY, INFINITY, INFINITY), high = 0;
    for (const mt_plan_estimate *e = all->of; e < all->of + all->count; e++)
        high = fmax(high, value_of(e, of));
    return low * pow(high / low, share);
}

typedef struct answer {
    int64_t status, why, estimates;
    mt_plan_strategy s;
    mt_plan_estimate e;
    const char *words;
} answer;

static bool ask(mg_run *run, answer *a, const mt_plan_problem *p)
{
    mg_begin(run, "mt_plan_best");
    mg_out(run, "status, why, estimates", MT_I64, MT_SHAPE(3));
    mg_out(run, "best", MT_I64, MT_SHAPE(MG_PLAN_STRATEGY));
    mg_out(run, "estimate", MT_I64, MT_SHAPE(MG_PLAN_ESTIMATE));
    mg_inout(run, "words", MT_U8, MT_SHAPE(MG_PLAN_WORDS));
    mg_15_put_problem(run, p);
    if (!mg_call(run))
        return false;
    const int64_t *said = mg_result(run, "status, why, estimates");
    *a =
        (answer){ said[0], said[1], said[2], mg_plan_strategy(mg_result(run, "best")), { 0 }, mg_result(run, "words") };
    memcpy(&a->e, mg_result(run, "estimate"), sizeof a->e);
    return true;
}

/* Whether the strategy is one of the grid. */
static bool in_grid(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    int64_t most = s->pp * s->tp > 1 ? p->zero_divided : p->zero;
    return !mt_plan_refuses(&p->model, s) && s->dp * s->pp * s->tp <= p->devices && s->time == p->time &&
           s->dtype == p->dtype && s->dp * s->micro * s->samples == p->batch && s->zero <= most &&
           s->recompute >= MT_RECOMPUTE_NONE && s->recompute <= MT_RECOMPUTE_BLOCK;
}

static const char *const whys[] = { "found", "no memory", "no days", "no dollars" };

static bool judge(mg_run *run, const mt_plan_problem *p, const whole_grid *all)
{
    answer a;
    if (!ask(run, &a, p))
        return false;
    double memory = (double)p->device.memory;
    least_of of = p->goal == MT_PLAN_FASTEST ? LEAST_DAYS : LEAST_DOLLARS;
    mt_plan_why why = MT_PLAN_FOUND;
    double want = least(all, of, memory, p->days, p->dollars);
    if (want == INFINITY && least(all, LEAST_BYTES, memory, INFINITY, INFINITY) == INFINITY) {
        why = MT_PLAN_NO_MEMORY, of = LEAST_BYTES, want = least(all, of, INFINITY, INFINITY, INFINITY);
    } else if (want == INFINITY) {
        double days = least(all, LEAST_DAYS, memory, INFINITY, INFINITY);
        why = days > p->days ? MT_PLAN_NO_DAYS : MT_PLAN_NO_DOLLARS;
        of = days > p->days ? LEAST_DAYS : LEAST_DOLLARS;
        want = days > p->days ? days : least(all, of, memory, p->days, INFINITY);
    }
    mt_status status = why == MT_PLAN_FOUND ? MT_OK : MT_ERR_ARGUMENT;
    if (a.status != status || a.why != (int64_t)why)
        return mg_fail(run,
                       "status %" PRId64 " and \"%s\", expected %d and \"%s\"; of %" PRId64
                       " strategies, at $%.3g for a device and hour, the best has %.9g",
                       a.status, a.why >= 0 && a.why < MT_COUNT(whys) ? whys[a.why] : "?", status, whys[why],
                       all->count, p->device.dollars, want);
    if (!in_grid(p, &a.s))
        return mg_fail(run,
                       "dp %" PRId64 ", pp %" PRId64 ", tp %" PRId64 ", %" PRId64 " micro-batches of %" PRId64
                       ", ZeRO %" PRId64 ": no strategy of this problem",
                       a.s.dp, a.s.pp, a.s.tp, a.s.micro, a.s.samples, a.s.zero);
    mt_plan_estimate is = mg_plan_estimate(p, &a.s);
    if (!mg_15_same_estimate(run, &a.e, &is))
        return false;
    bool fits = why != MT_PLAN_FOUND ||
                ((double)is.peak <= memory && is.days <= p->days * (1 + 1e-9) && is.dollars <= p->dollars * (1 + 1e-9));
    if (!fits || !mg_15_close_to(value_of(&is, of), want))
        return mg_fail(run,
                       "dp %" PRId64 ", pp %" PRId64 ", tp %" PRId64 ", %" PRId64 " micro-batches of %" PRId64
                       ", ZeRO %" PRId64 ": %.9g days, $%.9g, %" PRId64 " bytes%s; the best of all %" PRId64
                       " has %.9g %s",
                       a.s.dp, a.s.pp, a.s.tp, a.s.micro, a.s.samples, a.s.zero, is.days, is.dollars, is.peak,
                       fits ? "" : ", beyond a limit", all->count, want,
                       of == LEAST_DAYS      ? "days"
                       : of == LEAST_DOLLARS ? "dollars"
                                             : "bytes");
    if (why != MT_PLAN_FOUND && !a.words[0])
        return mg_fail(run, "no message says what would fit");
    return true;
}

/* A limit that what needs the least memory does not keep, though others do, if there are such. */
static double missed_by_nearest(const whole_grid *all, least_of of)
{
    double memory = least(all, LEAST_BYTES, INFINITY, INFINITY, INFINITY);
    return sqrt(least(all, of, INFINITY, INFINITY, INFINITY) * least(all, of, memory, INFINITY, INFINITY));
}

/* What is special in a search. */
enum { ANY, ALL_DAYS, ALL_MEMORY, LARGER, SAME_LAYERS, NOT_FASTEST, FREE, ROUNDED, FEW_DAYS, FEW_DOLLARS };

/* One device, whose time is that of its arithmetic: the bound. */
static bool is_exact(int64_t is)
{
    return is == ALL_DAYS || is == ALL_MEMORY || is == LARGER || is == SAME_LAYERS;
}

/* Limits for the rows of limits, as shares of what there is; 0: none. */
static void limit(mt_plan_problem *p, const whole_grid *all, best_about about, int64_t is, mt_rng *rng)
{
    double days = INFINITY, dollars = INFINITY, memory = INFINITY;
    if (about == BEST_LIMITS) {
        memory = quantile(all, LEAST_BYTES, mg_15_real(rng, 0.02, 0.6));
        days = quantile(all, LEAST_DAYS, mg_15_real(rng, 0.1, 0.9));
        dollars = quantile(all, LEAST_DOLLARS, mg_15_real(rng, 0.02, 0.9));
    } else if (about == BEST_NO_MEMORY) {
        memory = least(all, LEAST_BYTES, INFINITY, INFINITY, INFINITY) - 1;
        days = is == FEW_DAYS ? missed_by_nearest(all, LEAST_DAYS) : INFINITY;
        dollars = is == FEW_DOLLARS ? missed_by_nearest(all, LEAST_DOLLARS) : INFINITY;
    } else if (about == BEST_NO_DAYS || about == BEST_NO_DOLLARS) {
        memory = quantile(all, LEAST_BYTES, mg_15_real(rng, 0.1, 0.6));
        double fastest = least(all, LEAST_DAYS, memory, INFINITY, INFINITY);
        days = about == BEST_NO_DAYS ? fastest * 0.99 : fastest * mg_15_real(rng, 1.001, 1.5);
        dollars = about == BEST_NO_DAYS ? INFINITY : least(all, LEAST_DOLLARS, memory, days, INFINITY) * 0.99;
    } else if (about == BEST_FASTEST || about == BEST_CHEAPEST) {
        memory = quantile(all, LEAST_BYTES, mg_15_real(rng, 0.05, 1));
        p->goal = about == BEST_FASTEST ? MT_PLAN_FASTEST : MT_PLAN_CHEAPEST;
    }
    p->device.memory = memory < 1e18 ? (int64_t)memory : INT64_C(1) << 60;
    p->days = days;
    p->dollars = dollars;
    if (is_exact(is)) { /* a limit itself is allowed: the least memory, or the fewest days */
        bool bytes = is == ALL_MEMORY || is == LARGER;
        memory = least(all, LEAST_BYTES, INFINITY, INFINITY, INFINITY);
        p->device.memory = bytes ? (int64_t)memory : INT64_C(1) << 60;
        p->days = bytes ? INFINITY : least(all, LEAST_DAYS, INFINITY, INFINITY, INFINITY) * (1 + 1e-9);
        p->dollars = INFINITY;
    } else if (is == NOT_FASTEST) {
        p->goal = MT_PLAN_FASTEST;
        p->days = INFINITY;
        p->dollars = dollars_of_fastest(all, (double)p->device.memory) * 0.999;
    }
}

static void refused(mg_run *run)
{
#define WRONG(...) MG_15_WRONG(mt_plan_problem, __VA_ARGS__)
    static const mg_15_wrong wrong[] = {
        WRONG("no devices", devices, 0),
        WRONG("a time above the model's", time, 129),
        WRONG("a network without speed", device.network, .real = 0),
        WRONG("an efficiency below 0", efficiency, .real = -1),
        WRONG("a limit of 0 days", days, .real = 0),
        WRONG("a price below 0", device.dollars, .real = -3),
        WRONG("tokens that are no number", tokens, .real = NAN),
    };
    for (int i = 0; i < MT_COUNT(wrong); i++) {
        mt_plan_problem p = mg_15_pick_problem(mg_rng(run));
        answer a;
        mg_15_spoil(run, &p, &wrong[i]);
        if (!ask(run, &a, &p))
            return;
        if (a.status != MT_ERR_ARGUMENT || !a.words[0] || a.estimates != 0 || a.s.dp != MG_15_UNCHANGED) {
            mg_fail(run, "status %" PRId64 ", expected %d with a message, and *out unchanged", a.status,
                    MT_ERR_ARGUMENT);
            return;
        }
    }
}

/* GPT-3 on 1,024 A100s. The best of the 283,170 strategies was found once by estimating all: bench_plan --all. */
static void large(mg_run *run, bool count)
{
    mt_plan_problem p = mt_plan_gpt3();
    const int64_t strategies = 283170, most = strategies / 1000;
    const double days = 30.886969750, dollars = 2893617.588696565; /* the cheapest within 60 days */
    for (int i = 0; i < 2; i++) {
        answer a;
        p.goal = i ? MT_PLAN_CHEAPEST : MT_PLAN_FASTEST;
        p.days = i ? 60 : INFINITY;
        if (!ask(run, &a, &p))
            return;
        mt_plan_estimate is = mg_plan_estimate(&p, &a.s);
        double got = i ? is.dollars : is.days, want = i ? dollars : days;
        if (a.status != MT_OK || !in_grid(&p, &a.s) || is.peak > p.device.memory || fabs(got / want - 1) > 1e-8) {
            mg_fail(run, "175 B parameters, 1,024 devices: %.9g %s, possible are %.9g", got, i ? "dollars" : "days",
                    want);
            return;
        }
        if (count && (a.estimates > most || a.estimates < 1)) {
            mg_fail(run, "%" PRId64 " estimates, at most %" PRId64 ": a thousandth of all %" PRId64, a.estimates, most,
                    strategies);
            return;
        }
    }
}

/* LARGER, then SAME_LAYERS with far fewer FLOPs: nothing that is kept from one search may be a bound in the next. */
static void relate(mt_plan_problem *p, mt_plan_model *before, int64_t is)
{
    if (is == LARGER || is == ROUNDED) /* bytes that an f32 would round */
        p->model.vocabulary += 400000000;
    if (is == LARGER) {
        p->time = p->model.block;
        *before = p->model;
    } else if (is == SAME_LAYERS) {
        p->model.layers = before->layers, p->model.heads = before->heads, p->model.width = before->width;
        p->time = 8;
    } else if (is == FREE) {
        p->device.dollars = 0;
    }
}

void mg_15_best(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = {
        { .times = 12 },
        { .rows = 1 << BEST_NO_DAYS | 1 << BEST_NO_DOLLARS, .times = 12 },
        { "exactly enough days", "a limit itself is allowed", ALL_DAYS, 1 << BEST_LIMITS, 2 },
        { "exactly enough memory", "a limit itself is allowed", ALL_MEMORY, 1 << BEST_LIMITS, 2 },
        { "exactly enough memory for a large model", "a limit itself is allowed", LARGER, 1 << BEST_LIMITS },
        { "the same layers again", "what is kept from one search is no bound in the next", SAME_LAYERS,
          1 << BEST_LIMITS },
        { "fewer dollars than the fastest costs", NULL, NOT_FASTEST, 1 << BEST_LIMITS, 14 },
        { "devices that cost nothing", "the price of a device may be 0: then all strategies cost the same", FREE,
          1 << BEST_CHEAPEST },
        { "a large vocabulary", "bytes are int64_t: a float rounds them", ROUNDED, 1 << BEST_NO_MEMORY, 5 },
        { "a limit of days, too", NULL, FEW_DAYS, 1 << BEST_NO_MEMORY, 5 },
        { "a limit of dollars, too", NULL, FEW_DOLLARS, 1 << BEST_NO_MEMORY, 5 },
    };
    best_about about = ((const best_case *)one_case)->about;
    if (about == BEST_LARGE || about == BEST_COUNT) {
        large(run, about == BEST_COUNT);
        return;
    }
    if (about == BEST_REFUSED) {
        refused(run);
        return;
    }
    mt_plan_model before = { 0 };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        mt_plan_problem p = mg_15_pick_problem(mg_rng(run));
        p.devices = is_exact(t.is) ? 1 : p.devices;
        p.overhead = is_exact(t.is) ? 0 : p.overhead;
        relate(&p, &before, t.is);
        whole_grid all = walk(&p);
        limit(&p, &all, about, t.is, mg_rng(run));
        judge(run, &p, &all);
        free(all.of);
    }
}
