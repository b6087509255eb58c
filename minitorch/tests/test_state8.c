/* test_state8.c -- Adam's moments in 8 bits: codes and bytes, the bounds of amp/state8.h over thousands of steps beside
 * moments in f32, and an optimizer that keeps them, saved and restored. */
#include "aborts.h"
#include "amp/amp.h"
#include "amp/state8.h"
#include "autograd/tape.h"
#include "core/rng.h"
#include "core/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(state8, numbers_keep_their_size_and_none_below_zero_vanishes)
{
    enum { N = 1000 };
    float x[N], back[N], scale[4];
    uint8_t code[N];
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    for (int sign = 0; sign < 2; sign++) {
        const mt_moment8 moment = { code, scale, sign };
        for (int i = 0; i < N; i++)
            x[i] = (float)((sign && i % 3 ? -1 : 1) * exp2(-(sign ? 15. : 31.) * mt_rng_uniform(&rng)));
        x[7] = sign ? 1e-8f : 1e-30f;
        x[8] = 0;
        mt_encode8_cpu(&moment, x, N, 17, 0);
        mt_decode8_cpu(back, &moment, N);
        for (int i = 0; i < N; i++)
            if (i != 7)
                cr_assert_lt(fabsf(back[i] - x[i]), fabsf(x[i]) / 8 + 1e-37f, "%d: %g for %g", i, back[i], x[i]);
        cr_expect_eq(back[7], sign ? 0 : scale[0] * 1.25f * 0x1p-32f, "%g", back[7]);
        cr_expect_eq(back[8], 0);
    }
}

/* ---- over thousands of steps ---------------------------------------------------------------------------- */

enum { N = 4096 };

/* Moments in f32 and in 8 bits of the same gradients, normal numbers whose sizes differ by factors of 100. */
typedef struct pair {
    float param[2][N], grad[N], size[N], m[N], v[N], m8[N], v8[N], scale[2][N / MT_BLOCK8];
    uint8_t code[2][N];
    double error_v, mean_v, error_m; /* root mean squares over those of f32's, and the mean of v8 / v */
} pair;

static void advance(pair *p, int from, int to, double size)
{
    const mt_hyper hyper = mt_hyper_default(MT_ADAMW);
    const mt_moment8 moment[] = { { p->code[0], p->scale[0], true }, { p->code[1], p->scale[1], false } };
    for (int t = from; t < to; t++) {
        mt_rng rng = mt_rng_new((uint64_t)t, MT_STREAM_TEST);
        for (int i = 0; i < N; i++)
            p->grad[i] = (float)(size * p->size[i] * mt_rng_normal(&rng));
        mt_update u = { p->param[0], p->grad, { p->m, p->v }, NULL, 1, N, t, &hyper };
        mt_adamw_update_cpu(&u);
        u.param = p->param[1], u.state[0] = u.state[1] = NULL;
        mt_adam8_update_cpu(&u, mt_adamw_update_cpu, moment);
    }
    mt_decode8_cpu(p->m8, &moment[0], N);
    mt_decode8_cpu(p->v8, &moment[1], N);
    double v = 0, m = 0, all = 0;
    p->mean_v = 0;
    for (int i = 0; i < N; i++) {
        p->mean_v += p->v8[i] / p->v[i] / N;
        v += pow(p->v8[i] / p->v[i] - 1, 2) / N;
        m += pow((p->m8[i] - p->m[i]) / p->size[i], 2), all += pow(p->m[i] / p->size[i], 2);
    }
    p->error_v = sqrt(v), p->error_m = sqrt(m / all);
}

/* The mean of N errors is within five of their deviations. Gradients a tenth as large are all decay: v leaves its level
 * by (1 - beta2) v a step, and errors of 2,500 steps count. */
Test(state8, errors_of_long_trainings_are_within_their_bounds)
{
    pair *p = mt_calloc(1, sizeof *p);
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    for (int i = 0; i < N; i++)
        p->size[i] = (float)exp(1.5 * mt_rng_normal(&rng));
    const double bound = sqrt(1 / 8.), decaying = sqrt(2500 * 0.001 / 8 + 1 / 8.);
    advance(p, 1, 2500, 1);
    cr_expect_leq(p->error_v, bound, "v is off by %g", p->error_v);
    cr_expect_leq(fabs(p->mean_v - 1), 5 * bound / sqrt(N), "v is %g of f32's", p->mean_v);
    cr_expect_leq(p->error_m, 1 / (16 * sqrt(1 - 0.81)), "m is off by %g", p->error_m);
    advance(p, 2500, 5000, 0.1);
    cr_expect_leq(p->error_v, decaying, "v is off by %g", p->error_v);
    cr_expect_leq(fabs(p->mean_v - 1), 5 * decaying / sqrt(N), "v is %g of f32's", p->mean_v);
    free(p);
}

/* ---- an optimizer ---------------------------------------------------------------------------------------- */

typedef struct learner {
    mt_tensor *weight, *bias;
    mt_optim *optim;
    mt_amp *amp;
} learner;

static learner learner_new(mt_update_kind kind, mt_dtype dtype)
{
    mt_rng rng = mt_rng_new(5, MT_STREAM_TEST);
    learner l = { mt_normal(MT_SHAPE(37, 41), 0, 1, &rng), mt_normal(MT_SHAPE(41), 0, 1, &rng),
                  mt_optim_new(kind, mt_hyper_default(kind)), NULL };
    mt_optim_add(l.optim, "weight", l.weight);
    mt_optim_add(l.optim, "bias", l.bias);
    l.amp = mt_amp_new8(l.optim, dtype);
    return l;
}

static void learner_free(learner *l)
{
    mt_optim_zero_grad(l->optim);
    mt_amp_free(l->amp);
    mt_optim_free(l->optim);
    mt_release(l->weight);
    mt_release(l->bias);
}

static mt_state state_of(learner *l)
{
    mt_state state = { 0 };
    mt_optim_state(&state, l->optim);
    mt_amp_state(&state, l->amp);
    return state;
}

/* Gradients times the scale of the loss; the bias has one in every second step. */
static void step(learner *l, int from, int to)
{
    for (int t = from; t < to; t++) {
        mt_rng rng = mt_rng_new((uint64_t)t, MT_STREAM_TEST);
        mt_optim_zero_grad(l->optim);
        float scale = (float)mt_amp_begin(l->amp);
        mt_amp_end(l->amp);
        l->weight->grad = mt_normal(MT_SHAPE(37, 41), 0, scale, &rng);
        l->bias->grad = t % 2 ? mt_normal(MT_SHAPE(41), 0, scale, &rng) : NULL;
        mt_optim_step(l->optim);
    }
}

Test(state8, an_optimizer_has_two_bytes_a_parameter_and_eight_a_block)
{
    learner l = learner_new(MT_ADAM, MT_F32);
    mt_state state = state_of(&l);
    cr_expect_eq(mt_state_bytes(&state), 2 * (37 * 41 + 41) + 8 * (6 + 1) + 2 * 8, "two integers count the steps");
    cr_expect_eq(mt_state8_bytes(37 * 41), 2 * 37 * 41 + 8 * 6);
    cr_expect_eq(mt_state8_bytes(1 << 20), (1 << 20) * 65 / 32, "2.03125 bytes");
    cr_expect_null(mt_state_find(&state, "weight/exp_avg"), "moments of f32 are gone");
    cr_expect_eq(mt_state_find(&state, "weight/exp_avg8")->tensor->dtype, MT_U8);
    mt_state_free(&state);
    learner_free(&l);
}

Test(state8, a_saved_training_goes_on_to_the_bit)
{
    static const mt_dtype dtypes[] = { MT_F32, MT_F16 };
    for (int d = 0; d < 2; d++) {
        learner whole = learner_new(MT_ADAMW, dtypes[d]), first = learner_new(MT_ADAMW, dtypes[d]),
                second = learner_new(MT_ADAMW, dtypes[d]);
        step(&whole, 1, 12);
        step(&first, 1, 6);
        mt_state from = state_of(&first), to = state_of(&second);
        for (int64_t i = 0; i < from.count; i++)
            if (from.item[i].integer)
                *to.item[i].integer = *from.item[i].integer;
        mt_state_copy(&to, &from);
        memcpy(mt_f32(second.weight), mt_f32(first.weight), 37 * 41 * sizeof(float));
        memcpy(mt_f32(second.bias), mt_f32(first.bias), 41 * sizeof(float));
        step(&second, 6, 12);
        cr_expect_arr_eq(mt_f32(whole.weight), mt_f32(second.weight), 37 * 41 * sizeof(float));
        cr_expect_arr_eq(mt_f32(whole.bias), mt_f32(second.bias), 41 * sizeof(float));
        mt_state_free(&from), mt_state_free(&to);
        learner_free(&whole), learner_free(&first), learner_free(&second);
    }
}

Test(state8, other_rules_are_refused)
{
    ABORTS("moments of 8 bits are adam's and adamw's", learner_new(MT_LION, MT_F32));
}
