/* 02-kernels.c -- the kernels of lab 02: the signature, the oracle and the edges of each. Rows: 02-backprop.c. */
#include "checks/02-backprop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 02.1, 02.2 linear */
static void linear(mg_trial *t)
{
    mg_oracle_linear(t->v[0], t->e[0], t->x[1], NULL, t->x[2], t->x[3], t->size[0], t->size[1], t->size[2]);
}

static void linear_slope(mg_trial *t)
{
    const double *dout = t->x[3], *x = t->x[4], *w = t->x[5];
    int64_t N = t->size[0], I = t->size[1], O = t->size[2];
    if (t->v[0])
        mg_oracle_linear_dx_add(t->v[0], t->e[0], dout, NULL, w, N, I, O);
    if (t->v[1])
        mg_oracle_linear_dw_add(t->v[1], t->e[1], dout, NULL, x, NULL, N, I, O);
    if (t->v[2])
        mg_oracle_linear_db_add(t->v[2], t->e[2], dout, NULL, N, O);
}

/* Where there are very many rows, dout is 0 but for the last three: in a sum of all rows, their terms would be
 * less than the tolerance. */
static void last_rows(mg_trial *t)
{
    if (t->size[0] > UINT16_MAX)
        memset(t->f[3], 0, sizeof(float) * (size_t)((t->size[0] - 3) * t->size[2]));
}

const mg_kernel mg_02_linear_fwd = { "mt_linear_fwd_cpu",
                                     "NIO",
                                     .operand = { MG_WRITTEN("out", "NO"), MG_READ("x", "NI"), MG_READ("w", "IO"),
                                                  MG_READ("b", "O", .dist = NORMAL(0, 4)) },
                                     .oracle = linear,
                                     .dist = NORMAL(0, 1),
                                     .enough = 4099 };
const mg_kernel mg_02_linear_bwd = { "mt_linear_bwd_cpu",
                                     "NIO",
                                     .operand = { MG_ADDED("dx", "NI"), MG_ADDED("dw", "IO"), MG_ADDED("db", "O"),
                                                  MG_READ("dout", "NO"), MG_READ("x", "NI"), MG_READ("w", "IO") },
                                     .oracle = linear_slope,
                                     .prepare = last_rows,
                                     .dist = NORMAL(0, 1),
                                     .enough = 4099,
                                     .optional = "dx dw db" };

/* ---- 02.3 to 02.5 activations */
static void act(mg_trial *t)
{
    mg_oracle_act((mg_act)t->kernel->about, t->v[0], t->e[0], t->x[1], t->size[0]);
}

static void slope(mg_trial *t)
{
    mg_oracle_act_add((mg_act)t->kernel->about, t->v[0], t->e[0], t->x[1], t->x[2], t->size[0]);
}

/* What backward reads is the output of forward. */
static void save(mg_trial *t)
{
    const mg_act which = (mg_act)t->kernel->about;
    for (int64_t i = 0; i < t->size[0]; i++) {
        float *x = &t->f[2][i];
        *x = which == MG_RELU ? fmaxf(*x, 0) : (float)(which == MG_TANH ? tanh(*x) : 1 / (1 + exp(-(double)*x)));
    }
}

/* The last argument of a kernel: x, or what was saved of it. */
static float *last_input(const mg_trial *t)
{
    return t->f[2] ? t->f[2] : t->f[1];
}

/* Tiny ones, the farthest, 2^value, and some whose slope of the sigmoid is 14 u or less; twenty, because rounding to
 * the old dx hides one. */
static void far_inputs(mg_trial *t)
{
    const float most = ldexpf(1, (int)t->value), first[] = { 1e-8f, -1e-8f, 1e-30f, -1e-30f, most, -most };
    float *x = last_input(t);
    memcpy(x, first, sizeof first);
    for (int i = 0; i < 20; i++)
        x[MT_COUNT(first) + i] = 14 + 0.05f * (float)i;
}

/* Every seventh element is NaN, with or without the sign bit; the element behind it is `beside`, the next one is 0. */
static void mix_nan(float *x, int64_t n, int64_t at, float beside)
{
    for (int64_t i = at; i < n; i += 7) {
        x[i] = i % 2 ? -NAN : NAN;
        if (i + 2 < n)
            x[i + 1] = beside, x[i + 2] = 0;
    }
}

static void relu_nan(mg_trial *t)
{
    mix_nan(t->f[1], t->size[0], t->place, -INFINITY);
}

/* dx += dout, except where saved <= 0: also where either is NaN; and inf is not multiplied by 0. */
static void relu_slope_nan(mg_trial *t)
{
    mix_nan(t->f[2], t->size[0], t->place, -1);
    for (int64_t i = 0; i < t->size[0]; i++)
        if (t->f[2][i] == -1 || t->f[2][i] == 0)
            t->f[1][i] = INFINITY;
        else if (i % 7 == (t->place + 4) % 7)
            t->f[1][i] = NAN;
}

static void one_nan(mg_trial *t)
{
    mg_nan_at(t, 1);
}

/* One element of dout is NaN, and the slope there is 0. */
static void nan_where_flat(mg_trial *t)
{
    mg_nan_at(t, 1);
    for (int64_t i = 0; i < t->size[0]; i++)
        t->f[2][i] = isnan(t->f[1][i]) ? -20 : t->f[2][i];
}

#define FORWARD(name, ...)                                                   \
    { .function = "mt_" name "_fwd_cpu",                                     \
      .sizes = "n",                                                          \
      .operand = { MG_WRITTEN("out", "n", .over = "x"), MG_READ("x", "n") }, \
      .oracle = act,                                                         \
      .dist = NORMAL(0, 2),                                                  \
      __VA_ARGS__ }
#define BACKWARD(name, ...)                                                                                  \
    { .function = "mt_" name "_bwd_cpu",                                                                     \
      .sizes = "n",                                                                                          \
      .operand = { MG_ADDED("dx", "n"), MG_READ("dout", "n", .dist = NORMAL(0, 1)), MG_READ("saved", "n") }, \
      .oracle = slope,                                                                                       \
      .dist = NORMAL(0, 2),                                                                                  \
      __VA_ARGS__ }
const mg_kernel mg_02_relu_fwd = FORWARD("relu", .about = MG_RELU, .nan = relu_nan);
const mg_kernel mg_02_relu_bwd = BACKWARD("relu", .about = MG_RELU, .prepare = save);
const mg_kernel mg_02_relu_bwd_of_x = BACKWARD("relu", .about = MG_RELU, .nan = relu_slope_nan);
const mg_kernel mg_02_sigmoid_fwd = FORWARD("sigmoid", .about = MG_SIGMOID);
const mg_kernel mg_02_sigmoid_bwd = BACKWARD("sigmoid", .about = MG_SIGMOID, .prepare = save);
const mg_kernel mg_02_tanh_fwd = FORWARD("tanh", .about = MG_TANH);
const mg_kernel mg_02_tanh_bwd = BACKWARD("tanh", .about = MG_TANH, .prepare = save);
const mg_kernel mg_02_gelu_fwd = FORWARD("gelu", .about = MG_GELU, .nan = one_nan);
const mg_kernel mg_02_gelu_bwd = BACKWARD("gelu", .about = MG_GELU, .nan = nan_where_flat);
const mg_kernel mg_02_gelu_tanh_fwd = FORWARD("gelu_tanh", .about = MG_GELU_TANH, .nan = one_nan);
const mg_kernel mg_02_gelu_tanh_bwd = BACKWARD("gelu_tanh", .about = MG_GELU_TANH, .nan = nan_where_flat);

/* The formulas of sigmoid and tanh include infinity. The cube of 2^42 is still a float, as the slope of GELU by tanh
 * needs it (kernels/kernels.h). */
#define FAR_HINT                                                                                                       \
    "inputs are from 1e-30 to 2^40 and more: tiny results need their full relative precision; large numbers overflow " \
    "to inf on the way, and inf / inf, inf - inf and 0 * inf are NaN"
#define FAR(low, high, most) { "far inputs", FAR_HINT, { 331 }, MIXED(low, high), far_inputs, .value = most }
const mg_special mg_02_far[] = { FAR(-20, 100, 66), { 0 } };
const mg_special mg_02_far_to_infinity[] = { FAR(-20, 100, 200), { 0 } };
const mg_special mg_02_far_cubed[] = { FAR(-20, 40, 66), { 0 } };
const mg_special mg_02_far_cubed_slope[] = { FAR(-20, 40, 42), { 0 } };

/* ---- 02.6 softmax */
enum { LONG = 8209 }; /* rows that threads might share */

static void softmax(mg_trial *t)
{
    for (int64_t i = 0; i < mg_count_of(t, 1); i++)
        if (t->x[1][i] == -INFINITY) /* whose distance from the maximum has no bound */
            t->x[1][i] = -1e30;
    mg_oracle_softmax(t->v[0], t->e[0], t->x[1], NULL, t->size[0], t->size[1]);
}

/* Every second one of the long rows ends with its largest logit: a maximum without it makes its term infinite. One or
 * two rows begin with a logit, 0, far above all others, whose terms are lost beside its term: a sum that is divided
 * among threads loses fewer of them, and all together are less than the tolerance. */
static void raise_one(mg_trial *t, float *x)
{
    int64_t N = t->size[0], C = t->size[1];
    if (C < LONG)
        return;
    if (N <= 2)
        mg_fill(mg_rng(t->run), x, N * C, (mg_dist)UNIFORM(-21.2, -21.1));
    for (int64_t n = 0; n < N; n++)
        if (N <= 2)
            x[n * C] = 0;
        else if (n % 2 == 0)
            x[n * C + C - 1] = 130;
}

static void long_rows(mg_trial *t)
{
    raise_one(t, t->f[1]);
}

/* Columns 20 and 40 of row 0, 19 and 39 of row 1, ... */
static void mask(mg_trial *t)
{
    for (int64_t i = t->size[1] / 2; i < t->size[0] * t->size[1]; i += t->size[1] / 2)
        t->f[1][i] = -INFINITY;
}

static void softmax_slope(mg_trial *t)
{
    mg_oracle_softmax_add(t->v[0], t->e[0], t->x[1], t->x[2], t->size[0], t->size[1]);
}

/* Logits become the probabilities that forward would have saved. */
static void save_probs(mg_trial *t)
{
    int64_t N = t->size[0], C = t->size[1];
    double *exact = mg_lift(t->f[2], N * C), *v = mg_doubles(N * C), *e = mg_doubles(N * C);
    mg_oracle_softmax(v, e, exact, NULL, N, C);
    for (int64_t i = 0; i < N * C; i++)
        t->f[2][i] = (float)v[i];
    free(exact), free(v), free(e);
}

const mg_kernel mg_02_softmax_fwd = { "mt_softmax_fwd_cpu",
                                      "NC",
                                      .operand = { MG_WRITTEN("out", "NC", .over = "x"), MG_READ("x", "NC") },
                                      .oracle = softmax,
                                      .prepare = long_rows,
                                      .nan = one_nan,
                                      .dist = NORMAL(0, 2),
                                      .least = { 0, 1 },
                                      .grid = "N" };
const mg_kernel mg_02_softmax_bwd = { "mt_softmax_bwd_cpu",
                                      "NC",
                                      .operand = { MG_ADDED("dx", "NC"), MG_READ("dout", "NC", .dist = NORMAL(0, 1)),
                                                   MG_READ("out", "NC") },
                                      .oracle = softmax_slope,
                                      .prepare = save_probs,
                                      .nan = one_nan,
                                      .dist = NORMAL(0, 2),
                                      .least = { 0, 1 },
                                      .grid = "N" };

const mg_special mg_02_softmax_edges[] = {
    { "logits of -inf", "a logit of -inf has the probability exp(-inf - max) = 0", { 3, 41 }, .prepare = mask },
    { "rows without columns must abort", NULL, { 1, MG_ZERO }, .aborts = "C < 1 with N > 0" },
    { 0 },
};
#define FARTHEST "the logits are up to 1.7e38 here, and x - max still fits in a float: limit no number"
const mg_special mg_02_far_logits[] = {
    { "logits far below 0", FARTHEST, .dist = UNIFORM(-1.7e38, -1e38) },
    { "the farthest logits", FARTHEST, .dist = UNIFORM(-1.7e38, 1.7e38) },
    { "large logits in long rows", NULL, .size = { 5, 2 * LONG } },
    { 0 },
};
const mg_special mg_02_negative_logits[] = {
    { "logits of -20,000", NULL, .dist = UNIFORM(-20130, -20110) },
    { "logits far below 0", FARTHEST, .dist = UNIFORM(-1.7e38, -1e38) },
    { 0 },
};

/* ---- 02.7 cross-entropy */
static void cross_entropy(mg_trial *t)
{
    int64_t N = t->size[0], C = t->size[1];
    mg_oracle_cross_entropy(t->v[0], t->e[0], t->x[2], NULL, t->label, N, C);
    mg_oracle_softmax(t->v[1], t->e[1], t->x[2], NULL, N, C);
}

static void cross_entropy_slope(mg_trial *t)
{
    mg_oracle_cross_entropy_add(t->v[0], t->e[0], t->x[1], t->x[2], NULL, t->label, t->size[0], t->size[1]);
}

static void long_logits(mg_trial *t)
{
    raise_one(t, t->f[2]);
}

static void nan_logit(mg_trial *t)
{
    mg_nan_at(t, 2);
}

const mg_kernel mg_02_cross_entropy_fwd = { "mt_cross_entropy_fwd_cpu",
                                            "NC",
                                            .operand = { MG_WRITTEN("loss", "N"),
                                                         MG_WRITTEN("probs", "NC", .over = "logits"),
                                                         MG_READ("logits", "NC"), MG_LABELS("label", "N") },
                                            .oracle = cross_entropy,
                                            .prepare = long_logits,
                                            .nan = nan_logit,
                                            .dist = NORMAL(0, 2),
                                            .least = { 0, 1 } };
const mg_kernel mg_02_cross_entropy_bwd = { "mt_cross_entropy_bwd_cpu",
                                            "NC",
                                            .operand = { MG_ADDED("dlogits", "NC"),
                                                         MG_READ("dloss", "N", .dist = NORMAL(0, 1)),
                                                         MG_READ("probs", "NC"), MG_LABELS("label", "N") },
                                            .oracle = cross_entropy_slope,
                                            .prepare = save_probs,
                                            .dist = NORMAL(0, 2),
                                            .least = { 0, 1 } };

static void one_label(mg_trial *t)
{
    t->label[t->place] = (int32_t)t->value;
}

/* A small value could be another number in the message. */
static bool is_named(mg_trial *t)
{
    return mg_expect_named(t->run, "row", t->place) &&
           (llabs(t->value) <= t->size[1] || mg_expect_named(t->run, "value", t->value));
}

#define WRONG(row, number)                                    \
    { "label[" #row "] = " #number " must abort",             \
      "test the label of every row, against 0 and against C", \
      { 2719, 5 },                                            \
      .prepare = one_label,                                   \
      .place = row,                                           \
      .value = number,                                        \
      .aborts = "a label out of range",                       \
      .after = is_named }
const mg_special mg_02_wrong_labels[] = {
    WRONG(2718, -1), WRONG(2718, 5), WRONG(2718, -100), WRONG(2718, 2147483647), WRONG(0, 7), WRONG(1359, 1000), { 0 },
};
