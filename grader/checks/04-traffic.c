/* 04-traffic.c -- the bar of step 04.5: bytes that the fused AdamW moves, where the arrays fit in no cache.
 *
 * A step reads p, g, m, v and writes p, m, v: 28 bytes per element. solutions/04-optimizers/adamw.c counts the bytes of
 * separate passes. */
#include "checks/04-optimizers.h"
#include "checks/fill.h"
#include "testing/compare.h"
#include "rows/traffic.h"

#include <math.h>
#include <string.h>

/* Each array takes 2 MiB, twice the cache of the count; the last vector is not whole. */
enum { N = (1 << 19) + 1, BYTES = 28 };

/* One step from exact numbers. m takes 4 roundings (two constants, two products, a sum), v 5. The step's quotient has
 * m's 4, half of v's 5, 2 by the corrections, 1 each by root, sum, eps and division; decay, the sum with it and lr
 * bring 4: 15 of its magnitude. The last subtraction rounds once more. Twice all that, for other orders; and once more,
 * for p (1 - lr wd) first: its factor by half a rounding, the product and the difference by one each, of |p|. */
static bool verify(mg_run *run, const float *p0, const float *m0, const float *v0, const float *grad, const mt_hyper *h,
                   int64_t step)
{
    const float *p = mg_result(run, "param"), *m = mg_result(run, "exp_avg"), *v = mg_result(run, "exp_avg_sq");
    double fix1 = 1 / (1 - pow(h->beta1, (double)step)), fix2 = 1 / (1 - pow(h->beta2, (double)step));
    double of_m = mt_tolerance(8, 1), of_v = mt_tolerance(10, 1), of_step = mt_tolerance(30, 1),
           last = mt_tolerance(3, 1);
    int64_t wrong = 0;
    for (int64_t i = 0; i < N; i++) {
        double g = grad[i], old = h->beta1 * m0[i], rest = (1 - h->beta1) * g;
        double m1 = old + rest, v1 = h->beta2 * v0[i] + (1 - h->beta2) * g * g, m_size = fabs(old) + fabs(rest);
        double root = sqrt(fix2 * v1) + h->eps, p1 = p0[i] - h->lr * (fix1 * m1 / root + h->weight_decay * p0[i]);
        double step_size = h->lr * (fix1 * m_size / root + h->weight_decay * fabs((double)p0[i]));
        int good = (fabs(m[i] - m1) <= of_m * m_size) & (fabs(v[i] - v1) <= of_v * v1) &
                   (fabs(p[i] - p1) <= of_step * step_size + last * fabs(p1)); /* 0 for NaN */
        wrong += !good;
    }
    if (wrong)
        mg_fail(run, "%lld of %lld elements are wrong after one step", (long long)wrong, (long long)N);
    return !wrong;
}

void mg_04_traffic(mg_run *run, const void *one_case)
{
    const mt_hyper hyper = { .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-3, .weight_decay = 0.1 };
    mt_shape shape = MT_SHAPE(1, N);
    int64_t step = mg_pick(mg_rng(run), 1, 1000);
    (void)one_case;
    mg_begin(run, "mt_adamw_update_cpu");
    float *p = mg_inout(run, "param", MT_F32, shape), *m = mg_inout(run, "exp_avg", MT_F32, shape);
    float *v = mg_inout(run, "exp_avg_sq", MT_F32, shape);
    mg_null(run, "scratch");
    float *g = mg_in(run, "grad", MT_F32, shape);
    mg_fill(mg_rng(run), p, N, (mg_dist)UNIFORM(-1, 1));
    mg_fill(mg_rng(run), m, N, (mg_dist)UNIFORM(-1, 1));
    mg_fill(mg_rng(run), v, N, (mg_dist)UNIFORM(0.25, 1));
    mg_fill(mg_rng(run), g, N, (mg_dist)UNIFORM(-1, 1));
    memcpy(mg_in(run, "hyper", MT_I64, MT_SHAPE(sizeof hyper / sizeof(int64_t))), &hyper, sizeof hyper);
    mg_i64(run, "rows", 1);
    mg_i64(run, "cols", N);
    mg_i64(run, "step", step);
    mg_i64(run, "steps", 1);
    if (mg_traffic_call(run, MG_L2) && verify(run, p, m, v, g, &hyper, step))
        mg_traffic_credit(run, "04.5", (double)BYTES * N);
}
