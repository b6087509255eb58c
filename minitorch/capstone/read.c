/* read.c -- the cluster and the plan from JSON; see capstone.h. */
#include "capstone/capstone.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/recompute.h"
#include "plan/files.h"

enum { MOST_POOLS = 16, MOST_LINKS = 64, MOST_EVENTS = 100000, MOST_DEVICES = 4096, MOST_TASKS = 1 << 18 };

#define HOUR 3600.0
#define DAY  (24 * HOUR)

/* ---- links --------------------------------------------------------------------------------------------- */

typedef struct link {
    double each, all, latency;
    const char *up;
} link;

static const mt_key link_keys[] = {
    { "gb_s", offsetof(link, each), MT_KEY_IS_NUMBER, true, true, 0, 1e6, 1e9, NULL },
    MT_KEY_POSITIVE(link, "all_gb_s", all, 1e9, 1e6),
    MT_KEY_RANGE(link, "latency_us", latency, 1e-6, 0, 1e6),
    MT_KEY_TEXT(link, "up", up, false),
    { 0 },
};

/* From link `name` up to the last one: the least bandwidths, and the sum of latencies. */
static mt_status follow(mt_capstone_pool *pool, const cJSON *links, const char *name, const char *where)
{
    char at[512];
    int steps = 0;
    pool->each = pool->all = INFINITY, pool->latency = 0;
    for (const char *next = name; next; steps++) {
        link l = { .all = INFINITY };
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(links, next);
        if (!item)
            return mt_fail(MT_ERR_ARGUMENT, "%s: there is no link \"%s\" in \"links\"", where, next);
        if (steps == MOST_LINKS)
            return mt_fail(MT_ERR_ARGUMENT,
                           "%s: the links above \"%s\" lead back to it by \"up\": leave one \"up\" out", where, name);
        snprintf(at, sizeof at, "%s: link \"%.40s\"", where, next);
        MT_TRY(mt_keys_read(&l, link_keys, item, at));
        pool->each = fmin(pool->each, l.each), pool->all = fmin(pool->all, l.all), pool->latency += l.latency;
        next = l.up;
    }
    return MT_OK;
}

/* All links, also those that no pool uses. */
static mt_status check_links(const cJSON *links, const char *where)
{
    mt_capstone_pool pool;
    if (links && (!cJSON_IsObject(links) || cJSON_GetArraySize(links) > MOST_LINKS))
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"links\": write an object of at most %d links, by their names", where,
                       MOST_LINKS);
    for (const cJSON *l = links ? links->child : NULL; l; l = l->next) {
        if (cJSON_GetObjectItemCaseSensitive(links, l->string) != l)
            return mt_fail(MT_ERR_ARGUMENT, "%s: \"links\" has \"%.40s\" twice: keep one", where, l->string);
        MT_TRY(follow(&pool, links, l->string, where));
    }
    return MT_OK;
}

/* ---- pools --------------------------------------------------------------------------------------------- */

typedef struct pool_file {
    const cJSON *cluster;
    const char *network;
    mt_capstone_pool pool;
} pool_file;

static const mt_key pool_keys[] = {
    MT_KEY_ANY(pool_file, "cluster", cluster, true),
    MT_KEY_TEXT(pool_file, "network", network, false),
    MT_KEY_POSITIVE(pool_file, "mtbf_hours", pool.mtbf, HOUR, 1e9),
    MT_KEY_POSITIVE(pool_file, "slow_every_hours", pool.slow_every, HOUR, 1e9),
    MT_KEY_POSITIVE(pool_file, "slow_hours", pool.slow_lasts, HOUR, 1e6),
    MT_KEY_RANGE(pool_file, "slow_factor", pool.slow_factor, 1, 1, 1000),
    { 0 },
};

static mt_status read_pool(mt_capstone *c, const cJSON *item, const cJSON *links, const mt_plan_problem *problem,
                           const char *file)
{
    pool_file f = { .pool = { .mtbf = INFINITY, .slow_every = INFINITY, .slow_lasts = HOUR, .slow_factor = 1 } };
    char where[512];
    snprintf(where, sizeof where, "%s: pool \"%.40s\"", file, item->string);
    mt_capstone_pool *p = &f.pool;
    MT_TRY(mt_keys_read(&f, pool_keys, item, where));
    p->name = item->string, p->problem = *problem;
    MT_TRY(mt_plan_cluster_json(&p->problem, f.cluster, where));
    mt_plan_device *d = &p->problem.device;
    p->each = d->network, p->all = INFINITY, p->latency = d->latency;
    if (p->problem.devices > MOST_DEVICES)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"devices\": write at most %d", where, MOST_DEVICES);
    if (f.network)
        MT_TRY(follow(p, links, f.network, where));
    double events = 2 * c->days * (double)p->problem.devices * (1 / p->mtbf + 1 / p->slow_every);
    if (events > MOST_EVENTS)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%s: %.0f failures and slow times in twice the budget's days are too many (at most %d): write "
                       "larger \"mtbf_hours\" or \"slow_every_hours\"",
                       where, events, MOST_EVENTS);
    for (int64_t i = 0; i < c->pools; i++)
        if (strcmp(c->pool[i].name, p->name) == 0)
            return mt_fail(MT_ERR_ARGUMENT, "%s: \"pools\" has this name twice: keep one", where);
    d->network = p->each;
    c->pool[c->pools++] = *p;
    return MT_OK;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

typedef struct file {
    mt_capstone capstone;
    const cJSON *model, *run, *links, *pools, *budget;
    mt_plan_problem problem;
} file;

static const mt_key file_keys[] = {
    MT_KEY_TEXT(file, "name", capstone.name, true),
    MT_KEY_ANY(file, "model", model, true),
    MT_KEY_ANY(file, "run", run, true),
    MT_KEY_ANY(file, "links", links, false),
    MT_KEY_ANY(file, "pools", pools, true),
    MT_KEY_ANY(file, "budget", budget, true),
    MT_KEY_POSITIVE(file, "storage_gb_s", capstone.storage, 1e9, 1e6),
    MT_KEY_RANGE(file, "restart_s", capstone.restart, 1, 0, 1e6),
    MT_KEY_WHOLE(file, "runs", capstone.runs, 1, 100, false),
    MT_KEY_WHOLE(file, "seed", capstone.seed, 1, 2147483647, false),
    MT_KEY_ANY(file, "train", capstone.train, false),
    { 0 },
};
static const mt_key model_keys[] = {
    MT_KEY_WHOLE(mt_plan_model, "layers", layers, 1, 1000, true),
    MT_KEY_WHOLE(mt_plan_model, "heads", heads, 1, 1000, true),
    MT_KEY_WHOLE(mt_plan_model, "width", width, 1, 1 << 16, true),
    MT_KEY_WHOLE(mt_plan_model, "block", block, 1, 1 << 20, true),
    MT_KEY_WHOLE(mt_plan_model, "vocabulary", vocabulary, 1, 1 << 24, true),
    { 0 },
};
static const mt_key run_keys[] = {
    { "tokens", offsetof(mt_plan_problem, tokens), MT_KEY_IS_NUMBER, true, false, 1, 1e15, 1, NULL },
    MT_KEY_WHOLE(mt_plan_problem, "batch", batch, 1, 1 << 16, true),
    MT_KEY_POSITIVE(mt_plan_problem, "efficiency", efficiency, 1, 1),
    MT_KEY_RANGE(mt_plan_problem, "overhead_us", overhead, 1e-6, 0, 1e6),
    { 0 },
};
static const mt_key budget_keys[] = {
    { "days", offsetof(mt_capstone, days), MT_KEY_IS_NUMBER, true, true, 0, 3650, DAY, NULL },
    { "dollars", offsetof(mt_capstone, dollars), MT_KEY_IS_NUMBER, true, true, 0, 1e12, 1, NULL },
    { 0 },
};

static mt_status read_part(void *out, const mt_key *keys, const cJSON *item, const char *where, const char *name)
{
    char at[512];
    snprintf(at, sizeof at, "%s: \"%s\"", where, name);
    return mt_keys_read(out, keys, item, at);
}

/* Some strategy of some pool has to fit; the nearest says what is missing. */
static mt_status check_fits(const mt_capstone *c, const char *where)
{
    double least = INFINITY;
    const mt_capstone_pool *nearest = c->pool;
    for (const mt_capstone_pool *p = c->pool; p < c->pool + c->pools; p++) {
        mt_plan_answer a = { .estimate.peak = INT64_MAX };
        if (mt_plan_best(&a, &p->problem) == MT_OK)
            return MT_OK;
        if ((double)a.estimate.peak < least)
            least = (double)a.estimate.peak, nearest = p;
    }
    if (least > 1e18) /* no strategy at all: the planner says why */
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"model\": %s", where, strdupa(mt_last_error()));
    return mt_fail(MT_ERR_ARGUMENT,
                   "%s: \"model\" fits no pool: the nearest is \"%s\", whose devices have %.1f GB; the best division "
                   "needs %.1f GB: write so much \"memory_gb\", or more \"devices\"",
                   where, nearest->name, (double)nearest->problem.device.memory / 1e9, ceil(least / 1e8) / 10);
}

static mt_status read_pools(mt_capstone *c, const file *f, const char *where)
{
    int count = cJSON_IsObject(f->pools) ? cJSON_GetArraySize(f->pools) : 0;
    MT_TRY(check_links(f->links, where));
    if (count < 1 || count > MOST_POOLS)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"pools\": write an object of 1 to %d pools, by their names", where,
                       MOST_POOLS);
    c->pool = mt_calloc(count, sizeof *c->pool);
    for (const cJSON *p = f->pools->child; p; p = p->next)
        MT_TRY(read_pool(c, p, f->links, &f->problem, where));
    return check_fits(c, where);
}

mt_status mt_capstone_read(mt_capstone *out, const cJSON *json, const char *where)
{
    file f = { .capstone = { .storage = 1e9, .restart = 300, .runs = 8, .seed = 1 },
               .problem = { .efficiency = 0.5,
                            .overhead = 20e-6,
                            .dtype = MT_BF16,
                            .zero = 3,
                            .zero_divided = 1,
                            .days = INFINITY,
                            .dollars = INFINITY } };
    mt_capstone *c = &f.capstone;
    const mt_plan_model *m = &f.problem.model;
    MT_TRY(mt_keys_read(&f, file_keys, json, where));
    MT_TRY(read_part(&f.problem.model, model_keys, f.model, where, "model"));
    MT_TRY(read_part(&f.problem, run_keys, f.run, where, "run"));
    MT_TRY(read_part(c, budget_keys, f.budget, where, "budget"));
    f.problem.time = m->block;
    if (m->width % m->heads)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"model\": %" PRId64 " heads do not divide a width of %" PRId64, where,
                       m->heads, m->width);
    mt_status status = read_pools(c, &f, where);
    if (status == MT_OK)
        *out = *c;
    else
        free(c->pool);
    return status;
}

void mt_capstone_free(mt_capstone *c)
{
    free(c->pool);
    *c = (mt_capstone){ 0 };
}

/* ---- the budget of training ---------------------------------------------------------------------------- */

typedef struct train_budget {
    double flops;
    int64_t windows;
} train_budget;

static const mt_key train_keys[] = {
    { "flops", offsetof(train_budget, flops), MT_KEY_IS_NUMBER, true, true, 0, 1e24, 1, NULL },
    MT_KEY_WHOLE(train_budget, "windows", windows, 4, 1 << 16, true),
    { 0 },
};

mt_status mt_capstone_train(double *flops, int64_t *windows, const mt_capstone *c, const char *size, const char *where)
{
    char at[512];
    train_budget b = { 0 };
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(c->train, size);
    if (!item)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%s: there is no budget to train %s: write \"train\": { \"%s\": { \"flops\": 1e12, \"windows\": "
                       "960 } }",
                       where, size, size);
    snprintf(at, sizeof at, "%s: \"train\": \"%s\"", where, size);
    MT_TRY(mt_keys_read(&b, train_keys, item, at));
    if (b.windows % 4)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"windows\": write a multiple of 4", at);
    *flops = b.flops, *windows = b.windows;
    return MT_OK;
}

/* ---- the plan ------------------------------------------------------------------------------------------ */

typedef struct plan_file {
    mt_capstone_plan plan;
    int64_t recompute, dtype;
} plan_file;

static const char *const dtypes[] = { "bf16", "f32", NULL };

static const mt_key plan_keys[] = {
    MT_KEY_TEXT(plan_file, "pool", plan.pool, true),
    MT_KEY_WHOLE(plan_file, "dp", plan.strategy.dp, 1, 1 << 16, true),
    MT_KEY_WHOLE(plan_file, "pp", plan.strategy.pp, 1, 1000, true),
    MT_KEY_WHOLE(plan_file, "tp", plan.strategy.tp, 1, 1000, true),
    MT_KEY_WHOLE(plan_file, "micro_batch", plan.strategy.samples, 1, 1 << 16, true),
    MT_KEY_WHOLE(plan_file, "zero", plan.strategy.zero, 0, 3, false),
    MT_KEY_CHOICE(plan_file, "recompute", recompute, mt_recompute_names),
    MT_KEY_CHOICE(plan_file, "dtype", dtype, dtypes),
    MT_KEY_WHOLE(plan_file, "buckets", plan.buckets, 1, 1024, false),
    MT_KEY_WHOLE(plan_file, "save_every", plan.save_every, 0, 1e9, true),
    { 0 },
};

static mt_status find_pool(mt_capstone_plan *plan, const mt_capstone *c, const char *where)
{
    char names[300] = "";
    for (int64_t i = 0; i < c->pools; i++) {
        if (strcmp(c->pool[i].name, plan->pool) == 0) {
            plan->at = i;
            return MT_OK;
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.40s", i ? ", " : "", c->pool[i].name);
    }
    return mt_fail(MT_ERR_ARGUMENT, "%s: there is no pool \"%s\": use one of %s", where, plan->pool, names);
}

static mt_status check_memory(const mt_capstone_pool *pool, const mt_plan_strategy *s, const char *where)
{
    mt_plan_problem p = pool->problem;
    mt_plan_answer a = { 0 };
    double needs = (double)mt_plan_worst(&p, s).peak / 1e9, has = (double)p.device.memory / 1e9;
    if (needs <= has)
        return MT_OK;
    p.dtype = s->dtype;
    if (mt_plan_best(&a, &p) != MT_OK)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%s: a rank needs %.2f GB and a device of pool \"%s\" has %.2f: no division "
                       "fits there",
                       where, needs, pool->name, has);
    return mt_fail(MT_ERR_ARGUMENT,
                   "%s: a rank needs %.2f GB and a device of pool \"%s\" has %.2f: dp %" PRId64 ", pp %" PRId64
                   ", tp %" PRId64 ", micro_batch %" PRId64 ", zero %" PRId64 ", recompute %s would fit",
                   where, needs, pool->name, has, a.strategy.dp, a.strategy.pp, a.strategy.tp, a.strategy.samples,
                   a.strategy.zero, mt_plan_again(a.strategy.recompute));
}

static mt_status check_plan(mt_capstone_plan *plan, const mt_capstone *c, const char *where)
{
    const mt_capstone_pool *pool = &c->pool[plan->at];
    const mt_plan_problem *p = &pool->problem;
    mt_plan_strategy *s = &plan->strategy;
    int64_t ranks = s->dp * s->pp * s->tp;
    if (ranks > p->devices)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%s: dp * pp * tp is %" PRId64 " devices, and pool \"%s\" has %" PRId64 ": write smaller ones",
                       where, ranks, pool->name, p->devices);
    if (p->batch % (s->dp * s->samples))
        return mt_fail(MT_ERR_ARGUMENT, "%s: dp * micro_batch is %" PRId64 ": write what divides the batch of %" PRId64,
                       where, s->dp * s->samples, p->batch);
    s->micro = p->batch / (s->dp * s->samples);
    if (s->dp * s->pp * s->micro > MOST_TASKS)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%s: a step has %" PRId64
                       " micro-batches on stages, and at most %d are simulated: write a larger "
                       "\"micro_batch\"",
                       where, s->dp * s->pp * s->micro, MOST_TASKS);
    if (s->zero > p->zero_divided && s->pp * s->tp > 1)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"zero\": train_gpt2 has stage 1 only with pp or tp above 1: write 0 or 1",
                       where);
    if (s->zero && s->dp == 1)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"zero\": one replica has nothing to share: write 0", where);
    const char *why = mt_plan_refuses(&p->model, s);
    if (why)
        return mt_fail(MT_ERR_ARGUMENT, "%s: %s", where, why);
    return check_memory(pool, s, where);
}

mt_status mt_capstone_plan_read(mt_capstone_plan *out, const mt_capstone *c, const cJSON *json, const char *where)
{
    plan_file f = { .plan = { .buckets = 16 } };
    mt_capstone_plan *plan = &f.plan;
    MT_TRY(mt_keys_read(&f, plan_keys, json, where));
    MT_TRY(find_pool(plan, c, where));
    plan->strategy.time = c->pool[plan->at].problem.time;
    plan->strategy.recompute = (mt_recompute)f.recompute;
    plan->strategy.dtype = f.dtype ? MT_F32 : MT_BF16;
    MT_TRY(check_plan(plan, c, where));
    *out = *plan;
    return MT_OK;
}
