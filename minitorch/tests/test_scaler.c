/* test_scaler.c -- loss scaling: the rule of the scale, unscaling with clipping, an optimizer with a scaler beside one
 * without, and the 16-bit copies that AdamW writes. */
#include "aborts.h"
#include "amp/amp.h"
#include "amp/master.h"
#include "autograd/tape.h"
#include "core/dtype.h"
#include "core/rng.h"
#include "core/scope.h"
#include "amp/autocast.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

Test(scaler, halves_at_once_and_doubles_after_the_interval)
{
    mt_scaler s = mt_scaler_new();
    cr_assert_eq(mt_scaler_scale(&s), 32768);
    cr_assert_eq(s.interval, 2000);
    s.interval = 3;
    static const struct {
        bool finite;
        int64_t exponent, good, skipped, in_a_row;
    } steps[] = { { true, 15, 1, 0, 0 },  { true, 15, 2, 0, 0 },  { true, 16, 0, 0, 0 }, { true, 16, 1, 0, 0 },
                  { false, 15, 0, 1, 1 }, { false, 14, 0, 2, 2 }, { true, 14, 1, 2, 0 }, { true, 14, 2, 2, 0 },
                  { false, 13, 0, 3, 1 }, { true, 13, 1, 3, 0 },  { true, 13, 2, 3, 0 }, { true, 14, 0, 3, 0 } };
    for (int i = 0; i < MT_COUNT(steps); i++) {
        cr_assert_eq(mt_scaler_update(&s, steps[i].finite), steps[i].finite);
        cr_expect(s.exponent == steps[i].exponent && s.good == steps[i].good && s.skipped == steps[i].skipped &&
                      s.in_a_row == steps[i].in_a_row,
                  "step %d: exponent %d, good %d, skipped %d, in a row %d", i, (int)s.exponent, (int)s.good,
                  (int)s.skipped, (int)s.in_a_row);
    }
}

Test(scaler, stays_within_the_range_of_f32)
{
    mt_scaler s = { .exponent = 125, .interval = 1 };
    for (int i = 0; i < 5; i++)
        mt_scaler_update(&s, true);
    cr_expect_eq(s.exponent, MT_SCALER_LIMIT);
    for (int i = 0; i < 400; i++)
        mt_scaler_update(&s, false);
    cr_expect_eq(s.exponent, -MT_SCALER_LIMIT);
    cr_expect_eq(s.in_a_row, 400);
}

/* ---- unscaling ------------------------------------------------------------------------------------- */

enum { N = 40009 }; /* more than one thread takes */

static double norm_of(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

Test(unscale, divides_and_clips_by_one_factor)
{
    static const double scales[] = { 1, 0x1p15, 0x1p-20 }, shares[] = { INFINITY, 2, 0.3, 0 };
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    float *x = malloc(N * sizeof *x), *g = malloc(N * sizeof *g);
    mt_rng_fill_normal(&rng, x, N, 0, 1);
    double norm = norm_of(x, N);
    for (int s = 0; s < MT_COUNT(scales); s++)
        for (int m = 0; m < MT_COUNT(shares); m++) {
            double most = shares[m] * norm, factor = most < norm ? most / norm : 1;
            for (int64_t i = 0; i < N; i++)
                g[i] = x[i] * (float)scales[s];
            const mt_grad_array parts[] = { { g, 33 }, { g + 33, 0 }, { g + 33, N - 33 } };
            double got = mt_unscale_grads_cpu(parts, 3, scales[s], most);
            cr_assert_float_eq(got, norm, norm * N * 0x1p-53);
            for (int64_t i = 0; i < N; i++)
                cr_assert(factor == 1 ? g[i] == x[i] : fabs(g[i] - factor * x[i]) <= 2 * 0x1p-24 * fabs(factor * x[i]),
                          "scale %g, limit %g: element %d is %g for %g", scales[s], most, (int)i, g[i], factor * x[i]);
        }
    free(x);
    free(g);
}

Test(unscale, leaves_what_is_not_finite)
{
    const float bad[] = { INFINITY, -INFINITY, NAN };
    for (int b = 0; b < MT_COUNT(bad); b++) {
        float one[] = { 1, 2 }, other[] = { 3, bad[b], 4 };
        const mt_grad_array parts[] = { { one, 2 }, { other, 3 } };
        double norm = mt_unscale_grads_cpu(parts, 2, 4, 1);
        cr_assert(!isfinite(norm));
        cr_assert(one[0] == 1 && one[1] == 2 && other[0] == 3 && other[2] == 4);
    }
    cr_assert_eq(mt_unscale_grads_cpu(NULL, 0, 4, 1), 0);
    ABORTS("the scale is 0", mt_unscale_grads_cpu(NULL, 0, 0, 1));
    ABORTS("the scale is inf", mt_unscale_grads_cpu(NULL, 0, INFINITY, 1));
    ABORTS("max_norm is nan", mt_unscale_grads_cpu(NULL, 0, 1, NAN));
}

/* ---- around an optimizer ---------------------------------------------------------------------------- */

typedef struct learner {
    mt_tensor *w;
    mt_optim *optim;
    mt_amp *amp;
} learner;

static learner learner_new(mt_dtype dtype)
{
    mt_rng rng = mt_rng_new(5, MT_STREAM_TEST);
    learner l = { mt_normal(MT_SHAPE(7, 5), 0, 1, &rng), mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW)), NULL };
    l.w->requires_grad = true;
    mt_optim_add(l.optim, "w", l.w);
    l.amp = mt_amp_new(l.optim, dtype);
    return l;
}

static void learner_free(learner *l)
{
    mt_optim_zero_grad(l->optim);
    mt_amp_free(l->amp);
    mt_optim_free(l->optim);
    mt_release(l->w);
}

/* clip 0: mt_optim_step alone. poison: one gradient is inf. */
static void step(learner *l, int t, double clip, bool poison)
{
    mt_rng rng = mt_rng_new((uint64_t)t, MT_STREAM_TEST);
    mt_optim_zero_grad(l->optim);
    double scale = mt_amp_begin(l->amp);
    mt_amp_end(l->amp);
    mt_scope_begin();
    mt_tensor *g = mt_retain(mt_normal(MT_SHAPE(7, 5), 0, 1, &rng));
    mt_scope_end();
    for (int i = 0; i < 35; i++)
        mt_f32(g)[i] *= (float)scale;
    if (poison)
        mt_f32(g)[t] = INFINITY;
    l->w->grad = g;
    if (clip == 0 || isfinite(mt_optim_clip_grad_norm(l->optim, clip)))
        mt_optim_step(l->optim);
}

Test(amp, a_scale_changes_no_bit_and_inf_no_parameter)
{
    static const double clips[] = { 0, 1 };
    for (int c = 0; c < 2; c++) {
        learner plain = learner_new(MT_F32), scaled = learner_new(MT_F16);
        float before[35];
        for (int t = 0; t < 6; t++) {
            memcpy(before, mt_f32(scaled.w), sizeof before);
            if (t == 3) {
                step(&scaled, t, clips[c], true);
                cr_assert_arr_eq(mt_f32(scaled.w), before, sizeof before, "inf changed a parameter");
            }
            step(&plain, t, clips[c], false);
            step(&scaled, t, clips[c], false);
            cr_assert_neq(memcmp(mt_f32(scaled.w), before, sizeof before), 0);
            for (int i = 0; i < 35; i++) /* the factor of clipping is rounded once in each */
                cr_assert_float_eq(mt_f32(plain.w)[i], mt_f32(scaled.w)[i], c ? 1e-6 : 0, "step %d", t);
        }
        cr_assert_eq(mt_amp_scaler(scaled.amp)->skipped, 1);
        cr_assert_eq(mt_amp_scaler(scaled.amp)->good, 3);
        cr_assert_eq(mt_amp_scale(scaled.amp), 0x1p14);
        cr_assert_null(mt_amp_scaler(plain.amp));
        mt_state state = { 0 };
        mt_optim_state(&state, scaled.optim);
        mt_amp_state(&state, scaled.amp);
        cr_assert_eq(*mt_state_find(&state, "w/step")->integer, 6, "a skipped step is not counted");
        cr_assert_eq(*mt_state_find(&state, "scaler/exponent")->integer, 14);
        mt_state_free(&state);
        learner_free(&plain);
        learner_free(&scaled);
    }
}

/* Where no scale helps the run ends, in words: at the scale of 2^-126, after 141 halvings. */
Test(amp, ends_where_no_scale_helps)
{
    for (int c = 0; c < 2; c++) {
        learner l = learner_new(MT_F16);
        for (int t = 0; t < 141; t++)
            step(&l, t % 35, c, true);
        cr_assert_eq(mt_amp_scale(l.amp), 0x1p-126);
        step(&l, 0, c, false); /* a finite step is taken there */
        cr_assert_eq(mt_amp_scaler(l.amp)->in_a_row, 0);
        ABORTS("no scale helps", step(&l, 0, c, true));
        learner_free(&l);
    }
}

Test(amp, adamw_writes_the_copies_that_products_read)
{
    for (int type = 0; type < 2; type++) {
        mt_dtype dtype = type ? MT_F16 : MT_BF16;
        learner plain = learner_new(MT_F32), kept = learner_new(MT_BF16);
        mt_scope_begin();
        mt_autocast_operand(kept.w, dtype);
        mt_scope_end();
        for (int t = 0; t < 3; t++) {
            step(&plain, t, 0, false);
            step(&kept, t, 0, false);
        }
        mt_scope_begin();
        mt_tensor *copy = kept.w->cast;
        cr_assert(mt_autocast_operand(kept.w, dtype) == copy, "the update left the copy stale");
        cr_assert_arr_eq(mt_f32(plain.w), mt_f32(kept.w), 35 * sizeof(float));
        for (int i = 0; i < 35; i++) {
            float w = mt_f32(kept.w)[i];
            cr_assert_eq(((uint16_t *)mt_data(copy))[i], type ? mt_f16_from_f32(w).bits : mt_bf16_from_f32(w).bits);
        }
        mt_scope_end();
        learner_free(&plain);
        learner_free(&kept);
    }
}

Test(master, has_the_bits_of_the_update_and_of_the_conversion)
{
    enum { M = 3 * 16384 + 7 };
    mt_rng rng = mt_rng_new(8, MT_STREAM_TEST);
    mt_hyper hyper = mt_hyper_default(MT_ADAMW);
    float *memory[2], *gradient = malloc(M * sizeof *gradient);
    uint16_t *copy = malloc(M * sizeof *copy);
    for (int k = 0; k < 2; k++)
        memory[k] = calloc(3 * M, sizeof *memory[k]);
    mt_rng_fill_normal(&rng, memory[0], M, 0, 1);
    memcpy(memory[1], memory[0], M * sizeof(float));
    for (int t = 1; t <= 3; t++) {
        mt_rng_fill_normal(&rng, gradient, M, 0, 1);
        mt_update u = { .grad = gradient, .rows = 1, .cols = M, .step = t, .hyper = &hyper };
        u.param = memory[0], u.state[0] = memory[0] + M, u.state[1] = memory[0] + 2 * M;
        mt_adamw_update_cpu(&u);
        u.param = memory[1], u.state[0] = memory[1] + M, u.state[1] = memory[1] + 2 * M;
        mt_adamw_master_update_cpu(&u, copy, MT_BF16);
        cr_assert_arr_eq(memory[0], memory[1], 3 * M * sizeof(float));
        for (int i = 0; i < M; i++)
            cr_assert_eq(copy[i], mt_bf16_from_f32(memory[1][i]).bits);
    }
    free(memory[0]);
    free(memory[1]);
    free(gradient);
    free(copy);
}
