/* run.c -- a plan in the simulator; see capstone.h. Failures of a pool and slow times of its devices are
 * Poisson processes, drawn from (seed, future): as lists, for twice the budget's days. What takes longer is beyond the
 * budget anyway. */
#include <math.h>
#include <stdlib.h>

#include "core/rng.h"
#include "plan/gpt2_tasks.h"
#include "plan/files.h"
#include "plan/train.h"
#include "capstone/capstone.h"

enum { STREAM_FAILURES = MT_STREAM_USER, STREAM_SLOW };

#define HOUR 3600.0
#define DAY  (24 * HOUR)

typedef struct future {
    mt_cluster cluster;
    mt_cluster_failure *failure;
    mt_cluster_slow *slow;
} future;

/* Seconds to the next event of a Poisson process, > 0. */
static double gap(mt_rng *rng, double mean)
{
    double u = ((double)(mt_rng_u64(rng) >> 11) + 0.5) * 0x1p-53;
    return -mean * log(u);
}

/* Room for one more element at the end; it doubles when it is full. */
static void *with_room(void *array, int64_t count, int64_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = mt_max(64, 2 * *room);
    return mt_realloc(array, *room, size);
}

/* Whatever the number of devices in use: those of the whole pool. */
static void draw_failures(future *f, const mt_capstone_pool *pool, double horizon, mt_rng rng)
{
    int64_t devices = pool->problem.devices, count = 0, room = 0;
    double mean = pool->mtbf / (double)devices;
    for (double t = gap(&rng, mean); t < horizon; t += gap(&rng, mean)) {
        f->failure = with_room(f->failure, count, &room, sizeof *f->failure);
        f->failure[count++] = (mt_cluster_failure){ t, mt_rng_below(&rng, devices) };
    }
    f->cluster.failure = f->failure, f->cluster.failures = count;
}

static void draw_slow(future *f, const mt_capstone_pool *pool, double horizon, mt_rng rng)
{
    int64_t count = 0, room = 0;
    for (int64_t d = 0; d < pool->problem.devices && pool->slow_factor > 1; d++) {
        mt_rng own = mt_rng_substream(&rng, (uint64_t)d);
        for (double t = gap(&own, pool->slow_every); t < horizon; t += gap(&own, pool->slow_every)) {
            double end = t + gap(&own, pool->slow_lasts);
            f->slow = with_room(f->slow, count, &room, sizeof *f->slow);
            if (end > t)
                f->slow[count++] = (mt_cluster_slow){ d, t, end, pool->slow_factor };
            t = end;
        }
    }
    f->cluster.slow = f->slow, f->cluster.slows = count;
}

static future draw(const mt_capstone *c, const mt_capstone_pool *pool, int64_t seed, int64_t number)
{
    future f = { .cluster = mt_cluster_of(&pool->problem) };
    mt_rng failures = mt_rng_new((uint64_t)seed, STREAM_FAILURES), slow = mt_rng_new((uint64_t)seed, STREAM_SLOW);
    f.cluster.network = (mt_cluster_link){ pool->latency, pool->each, pool->all };
    if (isfinite(pool->mtbf))
        draw_failures(&f, pool, 2 * c->days, mt_rng_substream(&failures, (uint64_t)number));
    if (isfinite(pool->slow_every))
        draw_slow(&f, pool, 2 * c->days, mt_rng_substream(&slow, (uint64_t)number));
    return f;
}

static void add(mt_capstone_score *sum, const mt_goodput *run, double dollars, int64_t runs)
{
    double n = (double)runs;
    sum->days += run->seconds / DAY / n, sum->dollars += dollars / n;
    sum->work += run->work / HOUR / n, sum->waiting += run->waiting / HOUR / n, sum->saving += run->saving / HOUR / n;
    sum->lost += run->lost / HOUR / n, sum->restarting += run->restarting / HOUR / n;
    sum->failures += run->failures / n;
}

mt_status mt_capstone_run(mt_capstone_score *out, const mt_capstone *c, const mt_capstone_plan *plan, int64_t seed)
{
    const mt_capstone_pool *pool = &c->pool[plan->at];
    const mt_plan_problem *p = &pool->problem;
    mt_plan_problem nominal = *p;
    nominal.dtype = plan->strategy.dtype;
    const mt_plan_strategy *s = &plan->strategy;
    const mt_plan_strategy alone = { 1, 1, 1, 1, 1, 1, 0, MT_RECOMPUTE_NONE, MT_F32, false };
    mt_cluster_job job = { mt_plan_steps(p), plan->save_every,
                           12 * (double)mt_plan_params(&p->model, &alone, 0) / c->storage, c->restart };
    mt_plan_estimate planned = mt_plan_estimate_of(&nominal, s);
    int64_t ranks = s->dp * s->pp * s->tp;
    mt_capstone_score sum = { .planned_step = planned.step,
                              .planned_days = planned.days,
                              .peak = planned.peak,
                              .rented = mt_min(p->devices, mt_ceil_div(ranks, p->device.machine) * p->device.machine) };
    double price = (double)sum.rented * p->device.dollars / HOUR;
    sum.planned_dollars = planned.days * DAY * price;
    bool ends = true; /* before failures do */
    mt_cluster_tasks *tasks = mt_cluster_tasks_new();
    mt_status status = mt_cluster_step(tasks, &nominal, s, plan->buckets);
    for (int64_t i = 0; i < c->runs && status == MT_OK; i++) {
        mt_cluster_trained run;
        future f = draw(c, pool, seed, i);
        status = mt_cluster_train(&run, &f.cluster, tasks, &job);
        if (status == MT_OK)
            add(&sum, &run.time, run.time.seconds * price, c->runs), ends &= run.time.seconds <= 2 * c->days;
        free(f.failure);
        free(f.slow);
    }
    mt_cluster_tasks_free(tasks);
    if (status != MT_OK)
        return status;
    sum.step = sum.work * HOUR / (double)job.steps;
    sum.share = sum.work * HOUR / (sum.days * DAY);
    sum.within = ends && sum.days * DAY <= c->days && sum.dollars <= c->dollars;
    *out = sum;
    return MT_OK;
}
