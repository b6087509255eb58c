/* 05-loader.c -- how the checks of steps 05.13 to 05.16 run: the loader around the ring (05-ring.c). Rows:
 * 05-data.c. */
#include "checks/05-data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3, FIELDS = 4 };
enum { BATCH, WORKERS, PREFETCH, UNEVEN_LOAD, LOAD_NS, COMPUTE_NS, CONFIG };

typedef struct trial {
    int64_t sampler[MG_SAMPLER], config[CONFIG], seed, epoch, step, samples;
} trial;

static int64_t length_of(const trial *t)
{
    return t->sampler[MG_COUNT]; /* of one rank */
}

static int64_t steps_of(const trial *t)
{
    return (length_of(t) + t->config[BATCH] - 1) / t->config[BATCH];
}

/* percent: of the time to load that computing takes; in order it is drawn when negative. */
static void trial_pick(mg_run *run, trial *t, const data_case *c, int64_t percent)
{
    mt_rng *rng = mg_rng(run);
    bool law = c->kind == MG_LOADER_LAW;
    int64_t workers = c->spread >= 0 ? c->spread : mg_pick(rng, 1, 6), batch = mg_pick(rng, 2, 6);
    *t = (trial){ .sampler = { law ? 200 * batch : mg_pick(rng, 30, 90), 1, (int64_t)mt_rng_u64(rng), 0, 1, 0 },
                  .config = { batch, workers, law ? 2 * workers : mg_pick(rng, 1, 5), law ? 0 : 3,
                              1000 * mg_pick(rng, 1, 999), 0 },
                  .seed = (int64_t)mt_rng_u64(rng) };
    int64_t load = batch * t->config[LOAD_NS], part = workers ? load / workers : load;
    t->config[COMPUTE_NS] = percent < 0                  ? load * mg_pick(rng, 0, 3)
                            : c->kind == MG_LOADER_AHEAD ? 8 * load * t->config[PREFETCH]
                                                         : part * percent / 100;
    t->samples = law ? t->sampler[MG_COUNT] : 2 * t->sampler[MG_COUNT];
    t->epoch = c->kind == MG_LOADER_RESUME ? mg_pick(rng, 0, 4) : 0;
    t->step = c->kind == MG_LOADER_RESUME ? mg_pick(rng, 1, steps_of(t) - 1) : 0;
}

static double *expected_x(const trial *t)
{
    double *x = calloc((size_t)(t->samples * FIELDS), sizeof *x);
    int64_t epoch = t->epoch, k = mt_min(t->step * t->config[BATCH], length_of(t));
    int64_t *order = mg_05_order_of(t->sampler, epoch);
    MT_CHECK(x, "out of memory");
    for (int64_t i = 0; i < t->samples; i++, k++) {
        if (k == length_of(t)) {
            free(order);
            order = mg_05_order_of(t->sampler, ++epoch);
            k = 0;
        }
        mt_rng rng = mg_05_sample_stream(t->seed, epoch, order[k]);
        x[i * FIELDS] = (double)order[k];
        for (int f = 1; f < FIELDS; f++)
            x[i * FIELDS + f] = mt_rng_uniform(&rng);
    }
    free(order);
    return x;
}

static bool judge_facts(mg_run *run, const trial *t, int64_t kind)
{
    const int64_t *facts = mg_result(run, "status, ns, ahead, ends"), *config = t->config;
    int64_t most = config[PREFETCH] * config[BATCH]; /* without the batch in use */
    if (facts[0] != MT_OK)
        mg_fail(run, "epoch %" PRId64 ", step %" PRId64 " was refused", t->epoch, t->step);
    else if (kind == MG_LOADER_AHEAD && facts[2] > most)
        mg_fail(run, "%" PRId64 " samples were loaded ahead   expected at most %" PRId64, facts[2], most);
    else if (kind == MG_LOADER_AHEAD && facts[2] <= (config[PREFETCH] - 1) * config[BATCH])
        mg_fail(run, "at most %" PRId64 " samples were loaded ahead   expected %" PRId64 " batches of %" PRId64,
                facts[2], config[PREFETCH], config[BATCH]);
    else if (kind == MG_LOADER_LAW) {
        double load = (double)(config[BATCH] * config[LOAD_NS]), compute = (double)config[COMPUTE_NS];
        double law = mt_max(compute, load / (double)config[WORKERS]), fill = load + compute;
        double ratio = ((double)facts[1] - fill) / (law * 200);
        mg_note(run, "%.3f of max(c, l/W)  (bar 1.10)", ratio);
        if (ratio > 1.1)
            mg_fail(run, "an epoch took %.3f of max(c, l/W) with %" PRId64 " workers, l/c = %.2f: the bar is 1.1",
                    ratio, config[WORKERS], load / compute);
        else
            return true;
    } else
        return true;
    return false;
}

static bool load_once(mg_run *run, const trial *t, int64_t kind)
{
    mg_begin(run, "a loader");
    mg_out(run, "x", MT_F32, MT_SHAPE(t->samples, FIELDS));
    mg_out(run, "status, ns, ahead, ends", MT_I64, MT_SHAPE(4));
    memcpy(mg_in(run, "sampler", MT_I64, MT_SHAPE(MG_SAMPLER)), t->sampler, sizeof t->sampler);
    memcpy(mg_in(run, "config", MT_I64, MT_SHAPE(CONFIG)), t->config, sizeof t->config);
    mg_i64(run, "seed", t->seed);
    mg_i64(run, "epoch", t->epoch);
    mg_i64(run, "step", t->step);
    double *x = expected_x(t);
    bool good = mg_call(run) && mg_expect(run, "x", x, NULL) && judge_facts(run, t, kind);
    free(x);
    return good;
}

void mg_05_loader(mg_run *run, const void *one_case)
{
    static const int64_t percent[] = { 25, 80, 100, 300 }; /* from loading only to computing only */
    const data_case *c = one_case;                         /* spread: workers, negative: any */
    const bool law = c->kind == MG_LOADER_LAW, ahead = c->kind == MG_LOADER_AHEAD;
    trial t;
    for (int i = 0; i < (law ? MT_COUNT(percent) : CALLS); i++) {
        trial_pick(run, &t, c, law ? percent[i] : ahead ? 100 : -1);
        if (!load_once(run, &t, c->kind))
            return;
    }
    if (c->kind == MG_LOADER_ORDER) {
        mg_part(run, "a caller that waits for every batch", NULL);
        trial_pick(run, &t, c, 0);
        load_once(run, &t, c->kind);
    }
    mg_part(run, "the last batch, and the end of an epoch", NULL);
    for (int end = 0; end < 2 && c->kind == MG_LOADER_RESUME; end++) {
        trial_pick(run, &t, c, end ? 0 : -1);
        t.step = steps_of(&t) - !end;
        if (!load_once(run, &t, c->kind))
            return;
    }
}
