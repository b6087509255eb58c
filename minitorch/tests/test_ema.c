/* test_ema.c -- the moving average of parameters beside its definition in double; swapped in and back; saved. */
#include "must.h"
#include "train/ema.h"

#include <math.h>
#include <string.h>

enum { STEPS = 50 };

static float value(int step, int64_t k)
{
    return (float)sin(step * 0.37 + (double)k * 1.7) + 0.1f * (float)step;
}

static mt_state set(mt_module *model, int step)
{
    mt_state params = mt_module_params(model);
    for (int64_t i = 0, k = 0; i < params.count; i++)
        for (int64_t j = 0; j < mt_numel(params.item[i].tensor); j++, k++)
            mt_f32(params.item[i].tensor)[j] = value(step, k);
    return params;
}

/* Whether the parameters are the average of the first t steps: sums of d^(t-i) w_i over that of d^(t-i). */
static void is_average(mt_module *model, double d, int t)
{
    mt_state params = mt_module_params(model);
    for (int64_t i = 0, k = 0; i < params.count; i++)
        for (int64_t j = 0; j < mt_numel(params.item[i].tensor); j++, k++) {
            double sum = 0, weights = 0, size = 0;
            for (int step = 1; step <= t; step++) {
                sum += pow(d, t - step) * (double)value(step, k);
                size = fmax(size, fabs((double)value(step, k)));
                weights += pow(d, t - step);
            }
            /* each update rounds a few times, and later ones shrink that by d */
            double got = (double)mt_f32(params.item[i].tensor)[j], bound = 4 * ldexp(size, -24) * fmin(t, 1 / (1 - d));
            cr_assert(fabs(got - sum / weights) <= bound, "step %d, number %d: %.9g, expected %.9g", t, (int)k, got,
                      sum / weights);
        }
    mt_state_free(&params);
}

static mt_module *model_new(void)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    return mt_sequential(2, mt_linear_layer(7, 33, &rng), mt_linear_layer(33, 1, &rng));
}

Test(ema, as_defined_at_every_step)
{
    static const double decays[] = { 0.5, 0.9, 0.999 };
    for (int c = 0; c < MT_COUNT(decays); c++) {
        mt_module *model = model_new();
        mt_ema *ema = mt_ema_new(model, decays[c]);
        for (int t = 1; t <= STEPS; t++) {
            mt_state params = set(model, t);
            int64_t version = params.item[0].tensor->storage->version;
            mt_ema_update(ema);
            mt_ema_swap(ema);
            cr_assert_gt(params.item[0].tensor->storage->version, version, "converted copies would be old");
            is_average(model, decays[c], t);
            mt_ema_swap(ema);
            for (int64_t i = 0, k = 0; i < params.count; i++)
                for (int64_t j = 0; j < mt_numel(params.item[i].tensor); j++, k++)
                    cr_assert_eq(mt_f32(params.item[i].tensor)[j], value(t, k), "a second swap");
            mt_state_free(&params);
        }
        mt_ema_free(ema);
        mt_module_free(model);
    }
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

/* Another average that takes over the state of the first goes on with the same bits. */
Test(ema, goes_on_from_its_state)
{
    mt_module *model = model_new();
    mt_ema *one = mt_ema_new(model, 0.97), *two = mt_ema_new(model, 0.97);
    mt_state a = { 0 }, b = { 0 };
    mt_ema_state(&a, one);
    mt_ema_state(&b, two);
    cr_assert(a.count == 5 && strcmp(a.item[0].name, "0.weight/ema") == 0 && a.item[4].integer);
    for (int t = 1; t <= STEPS; t++) {
        mt_state params = set(model, t);
        mt_state_free(&params);
        mt_ema_update(one);
        if (t < 20)
            continue;
        if (t == 20) {
            mt_state_copy(&b, &a);
            *b.item[4].integer = *a.item[4].integer;
        } else {
            mt_ema_update(two);
        }
        for (int64_t i = 0; i < 4; i++)
            cr_assert_arr_eq(mt_f32(a.item[i].tensor), mt_f32(b.item[i].tensor),
                             (size_t)mt_numel(a.item[i].tensor) * sizeof(float));
    }
    mt_state_free(&a);
    mt_state_free(&b);
    mt_ema_free(one);
    mt_ema_free(two);
    mt_module_free(model);
    mt_ema_free(NULL);
    mt_ema_update(NULL);
    mt_ema_swap(NULL);
    mt_ema_state(&a, NULL);
    cr_assert_eq(a.count, 0);
}
