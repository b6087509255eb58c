/* 04-race.c -- the bar of step 04.5: one pass over memory against the reference's five, where nothing fits in a cache.
 *
 * The bytes are counted in solutions/04-optimizers/fused.c: 28 per element against 64, so 2.29 is what memory promises.
 * An update in passes of its own gets about 1. */
#include "checks/04-optimizers.h"
#include "checks/fill.h"
#include "testing/compare.h"

#include <math.h>
#include <string.h>

/* What was sent last; the checker races one pair at a time. */
static struct {
    int64_t step;
    mt_hyper hyper;
    const float *p, *m, *v, *g;
} racing;

/* p, g, m, v together take 64 MiB, twice the largest cache of most machines; the last vector is not whole. */
enum { N = (64 << 20) / (4 * sizeof(float)) + 1 };

/* ---- fresh numbers, quickly: so that a race has time for many rounds ------------------------------ */

enum { TABLE = 1 << 19, STRETCH = 1 << 12 };

/* An array put together from stretches of a table, each from a place of its own. */
static void fill_from(mt_rng *rng, float *x, const float table[TABLE])
{
    for (int64_t i = 0; i < N; i += STRETCH)
        memcpy(x + i, table + mt_rng_below(rng, TABLE - STRETCH), (size_t)mt_min(STRETCH, N - i) * sizeof *x);
}

static void fill_all(mt_rng *rng, float *p, float *m, float *v, float *g)
{
    static float table[TABLE];
    mg_fill(rng, table, TABLE, (mg_dist)UNIFORM(-1, 1));
    fill_from(rng, p, table);
    fill_from(rng, m, table);
    fill_from(rng, g, table);
    mg_fill(rng, table, TABLE, (mg_dist)UNIFORM(0.25, 1));
    fill_from(rng, v, table);
}

/* ---- the race --------------------------------------------------------------------------------------- */

static void describe(mg_run *run, const void *one_case, const char *function)
{
    mt_shape shape = MT_SHAPE(1, N);
    (void)one_case;
    racing.step = mg_pick(mg_rng(run), 1, 1000);
    racing.hyper = (mt_hyper){ .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-3, .weight_decay = 0.1 };
    mg_begin(run, function);
    float *p = mg_inout(run, "param", MT_F32, shape), *m = mg_inout(run, "m", MT_F32, shape);
    float *v = mg_inout(run, "v", MT_F32, shape);
    mg_null(run, "scratch");
    float *g = mg_in(run, "grad", MT_F32, shape);
    fill_all(mg_rng(run), p, m, v, g);
    racing.p = p, racing.m = m, racing.v = v, racing.g = g;
    memcpy(mg_in(run, "hyper", MT_I64, MT_SHAPE(sizeof(mt_hyper) / sizeof(int64_t))), &racing.hyper, sizeof(mt_hyper));
    mg_i64(run, "rows", 1);
    mg_i64(run, "cols", N);
    mg_i64(run, "step", racing.step);
    mg_i64(run, "steps", 1);
}

/* One step from exact numbers. m takes 4 roundings (two constants, two products, a sum), v 5. The step's quotient has
 * m's 4, half of v's 5, 2 by the corrections, 1 each by root, sum, eps and division; decay, the sum with it and lr
 * bring 4: 15 of its magnitude. The last subtraction rounds once more. Twice all that, for other orders. */
static bool verify(mg_run *run, const void *one_case)
{
    const mt_hyper h = racing.hyper;
    const float *p = mg_result(run, "param"), *m = mg_result(run, "m"), *v = mg_result(run, "v");
    double fix1 = 1 / (1 - pow(h.beta1, (double)racing.step)), fix2 = 1 / (1 - pow(h.beta2, (double)racing.step));
    double of_m = mt_tolerance(8, 1), of_v = mt_tolerance(10, 1), of_step = mt_tolerance(30, 1),
           last = mt_tolerance(2, 1);
    int64_t wrong = 0;
    (void)one_case;
    for (int64_t i = 0; i < N; i++) {
        double p0 = racing.p[i], g = racing.g[i], old = h.beta1 * racing.m[i], rest = (1 - h.beta1) * g;
        double m1 = old + rest, v1 = h.beta2 * racing.v[i] + (1 - h.beta2) * g * g, m_size = fabs(old) + fabs(rest);
        double root = sqrt(fix2 * v1) + h.eps, p1 = p0 - h.lr * (fix1 * m1 / root + h.weight_decay * p0);
        double step_size = h.lr * (fix1 * m_size / root + h.weight_decay * fabs(p0));
        int good = (fabs(m[i] - m1) <= of_m * m_size) & (fabs(v[i] - v1) <= of_v * v1) &
                   (fabs(p[i] - p1) <= of_step * step_size + last * fabs(p1)); /* 0 for NaN */
        wrong += !good;
    }
    if (wrong)
        mg_fail(run, "%lld of %lld elements are wrong after one step", (long long)wrong, (long long)N);
    return !wrong;
}

void mg_04_race(mg_run *run, const void *one_case)
{
    const mg_race race = { .bar = "04.5",
                           .ours = "mt_adamw_update_cpu",
                           .theirs = "AdamW in passes, with scratch of its own",
                           .against = "AdamW in passes",
                           .threads = 1,
                           .describe = describe,
                           .verify = verify };
    mg_perf(run, &race, one_case);
}
