/* 06-rows.c -- softmax and layernorm on the device: signatures, oracles and edges. Softmax is lab 02's.
 * Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "checks/oracle.h"

#include <math.h>

/* ---- softmax --------------------------------------------------------------------------------------- */

static void mask(mg_trial *t)
{
    for (int64_t i = 0; i < mg_count_of(t, 1); i++)
        if (i % t->size[1] >= t->place && i % t->size[1] < t->place + t->value)
            t->f[1][i] = -INFINITY;
}

#define NO_COLUMNS { "rows without columns must abort", NULL, .size = { 3, MG_ZERO }, .aborts = "C < 1 with N > 0" }
const mg_special mg_06_no_columns[] = { NO_COLUMNS, { 0 } };
const mg_special mg_06_far_logits[] = {
    { "logits of -90", NULL, .dist = UNIFORM(-90, -80) },
    { "logits far below 0", NULL, .dist = UNIFORM(-3e38, -2e38) },
    { "the farthest logits", NULL, .dist = UNIFORM(-1.6e38, 1.6e38) },
    { "a logit of -inf", NULL, { 3, 41 }, .prepare = mask, .place = 7, .value = 1 },
    { "a warp with logits of -inf", NULL, { 3, 70 }, .prepare = mask, .place = 32, .value = 32 },
    NO_COLUMNS,
    { 0 },
};

/* ---- layernorm: out, mean, rstd; x, gamma, beta, eps --------------------------------------------------- */

static void layernorm(mg_trial *t)
{
    mg_oracle_layernorm(t->v[0], t->e[0], t->v[1], t->e[1], t->v[2], t->e[2], t->f[3], t->f[4], t->f[5], t->size[0],
                        t->size[1], t->scalar);
}

void mg_06_draw_eps(mg_trial *t)
{
    t->scalar = (float)exp2(-(double)(t->size[1] == 1 ? 20 : mg_pick(mg_rng(t->run), 6, 16)));
}

static void nan_in_x(mg_trial *t)
{
    mg_nan_at(t, 3);
}

static void constant_rows(mg_trial *t)
{
    for (int64_t i = 0; i < mg_count_of(t, 3); i++)
        t->f[3][i] = t->f[3][i - i % t->size[1]];
}

enum { OVERFLOW = 3 }; /* the row whose squares exceed f32 */

void mg_06_overflow(mg_trial *t)
{
    for (int64_t c = 0; c < t->size[1]; c++)
        t->f[t->kernel->about][OVERFLOW * t->size[1] + c] = c % 2 ? 1e25f : -1e25f;
}

/* The row has no result, unless the sums are double. */
void mg_06_allow_nan(mg_trial *t)
{
    const int x = t->kernel->about;
    for (int64_t c = 0; c < t->size[1] && isnan(((const float *)mg_result(t->run, "rstd"))[OVERFLOW]); c++)
        t->v[x - 3][OVERFLOW * t->size[1] + c] = t->v[x - 1][OVERFLOW] = NAN;
}

const mg_kernel mg_06_layernorm = {
    .function = "mt_layernorm_fwd_cuda",
    .sizes = "NC",
    .operand = { MG_WRITTEN("out", "NC", .over = "x"), MG_WRITTEN("mean", "N"), MG_WRITTEN("rstd", "N"),
                 MG_READ("x", "NC"), MG_READ("gamma", "C", .dist = NORMAL(1, 0.5)),
                 MG_READ("beta", "C", .dist = NORMAL(0, 1)) },
    .about = 3,
    .oracle = layernorm,
    .draw = mg_06_draw_eps,
    .nan = nan_in_x,
    .scalar = "eps",
    .least = { 0, 1 },
    .dist = NORMAL(0.5, 1),
    .grid = "N",
};
const mg_special mg_06_constant_rows[] = { { "rows of one number", NULL, { 5, 33 }, .prepare = constant_rows }, { 0 } };
const mg_special mg_06_large_mean[] = { MG_06_FAR_ROW, NO_COLUMNS, { 0 } };

/* ---- its gradients: dx, dgamma, dbeta; dout, x, gamma, mean, rstd ------------------------------------- */

mg_layernorm_saved mg_06_saved(const mg_trial *t)
{
    float *const *f = t->f + t->kernel->about;
    return (mg_layernorm_saved){
        .dout = f[0], .x = f[1], .gamma = f[2], .mean = f[3], .rstd = f[4], .N = t->size[0], .C = t->size[1]
    };
}

void mg_06_save_moments(mg_trial *t)
{
    const mg_layernorm_saved s = mg_06_saved(t);
    mg_oracle_moments(t->f[t->kernel->about + 3], t->f[t->kernel->about + 4], &s, 0x1p-10f);
}

static void layernorm_slope(mg_trial *t)
{
    const mg_layernorm_saved s = mg_06_saved(t);
    if (t->v[0])
        mg_oracle_layernorm_dx_add(t->v[0], t->e[0], &s);
    if (t->v[1])
        mg_oracle_layernorm_dgamma_add(t->v[1], t->e[1], &s);
    if (t->v[2])
        mg_oracle_layernorm_dbeta_add(t->v[2], t->e[2], &s);
}

/* The sums of columns, whose blocks of threads are many, are asked of shorter rows. */
#define BACKWARD(...)                                                                                           \
    { .function = "mt_layernorm_bwd_cuda",                                                                      \
      .sizes = "NC",                                                                                            \
      .operand = { MG_ADDED("dx", "NC"), MG_ADDED("dgamma", "C"), MG_ADDED("dbeta", "C"),                       \
                   MG_READ("dout", "NC", .dist = NORMAL(0, 1)), MG_READ("x", "NC"),                             \
                   MG_READ("gamma", "C", .dist = NORMAL(1, 0.5)), MG_READ("mean", "N"), MG_READ("rstd", "N") }, \
      .about = 3,                                                                                               \
      .oracle = layernorm_slope,                                                                                \
      .prepare = mg_06_save_moments,                                                                            \
      .least = { 0, 1 },                                                                                        \
      .dist = NORMAL(0.5, 1),                                                                                   \
      .optional = "dx dgamma dbeta",                                                                            \
      .grid = "N",                                                                                              \
      __VA_ARGS__ }
const mg_kernel mg_06_layernorm_dx = BACKWARD(), mg_06_layernorm_dgamma = BACKWARD(.columns = 4099);
