/* 06-updates.c -- SGD, Adam and AdamW on the device: one step from any averages, by the oracle of lab 04
 * (testing/update_oracle.h). Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "testing/update_oracle.h"

#include <string.h>

enum { PARAM, M, V, GRAD };                         /* operands; m and v of SGD are NULL */
enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY, STEP }; /* numbers */

static double uniform(mg_trial *t, double low, double high)
{
    return low + (high - low) * mt_rng_uniform(mg_rng(t->run));
}

/* Each number has an effect, and rounding errors are not amplified, as in lab 04. Some gradients are 0, far from all
 * others, or too small for the square to matter. */
static void draw(mg_trial *t)
{
    const double number[] = { uniform(t, 0.002, 0.005),
                              uniform(t, 0.6, 0.9),
                              uniform(t, 0.9, 0.98),
                              uniform(t, 0.03, 0.08),
                              uniform(t, 0.01, 0.02),
                              (double)(mt_rng_below(mg_rng(t->run), 4) ? mg_pick(mg_rng(t->run), 5, 40)
                                                                       : mg_pick(mg_rng(t->run), 1000, 1000000)) };
    memcpy(t->number, number, sizeof number);
    for (int64_t i = 5; i < t->size[0]; i += 11)
        t->f[GRAD][i] *= i % 3 == 0 ? 0 : i % 3 == 1 ? 30 : 1e-8f;
}

void mg_06_expect_update(mt_update_kind kind, mt_hyper hyper, int64_t step, int64_t n, const float *const before[3],
                         const float *grad, double *const v[3], double *const e[3])
{
    mt_update_oracle *o = mt_update_oracle_new(kind, hyper, 1, n, before[0]);
    o->step = step - 1;
    for (int s = 0; s < MT_UPDATE_STATES && before[s + 1]; s++)
        for (int64_t i = 0; i < n; i++)
            o->state[s][i] = mt_approx_exact(before[s + 1][i]);
    mt_update_oracle_step(o, grad);
    for (int a = 0; a < 3 && before[a]; a++)
        for (int64_t i = 0; i < n; i++) {
            const mt_approx x = a ? o->state[a - 1][i] : o->param[i];
            v[a][i] = x.value;
            e[a][i] = x.error;
        }
    mt_update_oracle_free(o);
}

static void update(mg_trial *t)
{
    const mt_update_kind kind = (mt_update_kind)t->kernel->about;
    const double *number = t->number;
    mt_hyper h = mt_hyper_default(kind);
    h.lr = number[LR], h.beta1 = number[BETA1], h.beta2 = number[BETA2];
    h.eps = number[EPS], h.weight_decay = number[WEIGHT_DECAY];
    const float *const before[3] = { t->f[PARAM], t->f[M], t->f[V] };
    mg_06_expect_update(kind, h, (int64_t)number[STEP], t->size[0], before, t->f[GRAD], t->v, t->e);
}

#define UPDATE(name, kind)                                                                                       \
    { .function = "mt_" name "_update_cuda",                                                                     \
      .sizes = "n",                                                                                              \
      .operand = { MG_CHANGED("param", "n", .dist = UNIFORM(-1, 1)), MG_CHANGED("m", "n"), MG_CHANGED("v", "n"), \
                   MG_READ("grad", "n", .dist = UNIFORM(-3, 3)) },                                               \
      .dist = UNIFORM(0.1, 0.5),                                                                                 \
      .draw = draw,                                                                                              \
      .oracle = update,                                                                                          \
      .numbers = "lr beta1 beta2 eps weight_decay step",                                                         \
      .about = kind }
const mg_kernel mg_06_sgd = UPDATE("sgd", MT_SGD), mg_06_adam = UPDATE("adam", MT_ADAM),
                mg_06_adamw = UPDATE("adamw", MT_ADAMW);

void mg_06_strong_decay(mg_trial *t)
{
    t->number[LR] = uniform(t, 0.02, 0.05);
    t->number[WEIGHT_DECAY] = uniform(t, 0.2, 0.6);
}

/* Step `place` of the paper's Adam from averages of 0; without one, the first. Every third parameter is 0: after its
 * step a relative error of 1 / (1 - beta^t) in f32, 1.3e-5, is seen. */
void mg_06_first_steps(mg_trial *t)
{
    const double number[] = { uniform(t, 0.0005, 0.002), 0.9, 0.999, 1e-8, 0, mt_max((double)t->place, 1) };
    memcpy(t->number, number, sizeof number);
    for (int64_t i = 0; i < t->size[0]; i++) {
        double m = 0, v = 0;
        for (int64_t s = 1; s < t->place; s++) {
            const double g = uniform(t, -3, 3);
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
        }
        t->f[M][i] = (float)m;
        t->f[V][i] = (float)v;
        if (i % 3 == 0)
            t->f[PARAM][i] = 0;
    }
}

static void large_rate(mg_trial *t)
{
    if (t->kernel->about != MT_SGD)
        mg_06_first_steps(t);
    t->number[LR] = 1.5;
    t->number[EPS] = 1e-10;
}

static void other_betas(mg_trial *t)
{
    static const double beta[][2] = { { 0.9, 0.98 }, { 0.9, 0.9 }, { 0.7, 0.9 } };
    t->number[BETA1] = beta[t->place][0];
    t->number[BETA2] = beta[t->place][1];
    t->number[STEP] = 7;
}

static void step_0(mg_trial *t)
{
    t->number[STEP] = 0;
}

#define LARGE_RATE                                                      \
    { "a large rate, a small eps",                                      \
      "rate, eps and gradient count as they are given, large or small", \
      { 33 },                                                           \
      .prepare = large_rate }
#define OTHER_BETAS(i)                                                             \
    { "other betas at the same step",                                              \
      "another optimizer may be at the same step: keep nothing from call to call", \
      { 33 },                                                                      \
      .prepare = other_betas,                                                      \
      .place = i }
const mg_special mg_06_sgd_edges[] = { LARGE_RATE, { 0 } };
const mg_special mg_06_adam_edges[] = {
    OTHER_BETAS(0), OTHER_BETAS(1),
    OTHER_BETAS(2), { "step 0 must abort", NULL, { 3 }, .prepare = step_0, .aborts = "t < 1" },
    { 0 },
};
const mg_special mg_06_later_steps[] = {
    { "the second step", NULL, { 1025 }, .prepare = mg_06_first_steps, .place = 2 },
    { "the third step", NULL, { 1025 }, .prepare = mg_06_first_steps, .place = 3 },
    LARGE_RATE,
    { 0 },
};
