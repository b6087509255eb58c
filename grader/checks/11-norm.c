/* 11-norm.c -- residual + layernorm (steps 11.3, 11.8): the kernels, on the CPU and on the device, and their rows. The
 * sum of two numbers has one right rounding, bit for bit; what follows is layernorm's oracle with that sum. */
#include "checks/11-fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks/06-cuda.h"
#include "checks/oracle.h"

/* ---- forward: sum, out, mean, rstd; x, part, gamma, beta -------------------------------------------- */

static void residual_norm(mg_trial *t)
{
    int64_t N = t->size[0], C = t->size[1];
    float *sum = mt_calloc(mt_max(N * C, 1), sizeof *sum);
    for (int64_t i = 0; i < N * C; i++)
        t->v[0][i] = sum[i] = (float)(t->x[4][i] + t->x[5][i]);
    mg_oracle_layernorm(t->v[1], t->e[1], t->v[2], t->e[2], t->v[3], t->e[3], sum, t->f[6], t->f[7], N, C, t->scalar);
    free(sum);
}

/* Each row of both repeats its first number. */
static void constant_rows(mg_trial *t)
{
    for (int64_t i = 0; i < t->size[0] * t->size[1]; i++) {
        int64_t first = i - i % t->size[1];
        t->f[4][i] = t->f[4][first];
        t->f[5][i] = t->f[5][first];
    }
}

static const mg_kernel forward = {
    .function = "mt_residual_norm_fwd_cpu",
    .sizes = "NC",
    .operand = { MG_WRITTEN("sum", "NC", .over = "x"), MG_WRITTEN("out", "NC"), MG_WRITTEN("mean", "N"),
                 MG_WRITTEN("rstd", "N"), MG_READ("x", "NC"), MG_READ("part", "NC", .dist = NORMAL(0, 1)),
                 MG_READ("gamma", "C", .dist = NORMAL(1, 0.5)), MG_READ("beta", "C", .dist = NORMAL(0, 1)) },
    .about = 4,
    .oracle = residual_norm,
    .draw = mg_06_draw_eps,
    .scalar = "eps",
    .least = { 0, 1 },
    .dist = NORMAL(0.5, 1),
    .grid = "N",
};

static const mg_special far_row[] = { MG_06_FAR_ROW, { 0 } };
static const mg_special no_columns[] = {
    { "no rows and no columns", "where there are no rows there need be no columns", .size = { MG_ZERO, MG_ZERO } },
    { "rows without columns must abort", NULL, .size = { 1, MG_ZERO }, .aborts = "C < 1 with N > 0" },
    { 0 },
};

/* ---- backward: the gradients; dsum, dout, sum, gamma, mean, rstd ------------------------------------- */

/* Held, dsum and layernorm's gradient are added in some order: two roundings of at most all three magnitudes. */
static void expect_rows(mg_trial *t, int i, const mg_layernorm_saved *s)
{
    const double *dsum = t->x[t->kernel->about - 1];
    int64_t n = s->N * s->C;
    double *held = mg_doubles(n), *v = t->v[i], *e = t->e[i];
    memcpy(held, v, (size_t)n * sizeof *held);
    mg_oracle_layernorm_dx_add(v, e, s);
    for (int64_t k = 0; k < n && dsum; k++) {
        e[k] += 2 * MG_U * (fabs(held[k]) + fabs(v[k] - held[k]) + fabs(dsum[k]));
        v[k] += dsum[k];
    }
    free(held);
}

static void residual_slope(mg_trial *t)
{
    const mg_layernorm_saved s = mg_06_saved(t);
    for (int i = 0; i < 2; i++)
        if (t->v[i])
            expect_rows(t, i, &s);
    if (t->kernel->about > 3 && t->v[2])
        mg_oracle_layernorm_dgamma_add(t->v[2], t->e[2], &s);
    if (t->kernel->about > 3 && t->v[3])
        mg_oracle_layernorm_dbeta_add(t->v[3], t->e[3], &s);
}

static void nan_in_dout(mg_trial *t)
{
    mg_nan_at(t, t->kernel->about);
}

#define READ_BY_BACKWARD                                                                                            \
    MG_READ("dsum", "NC", .dist = NORMAL(0, 1)), MG_READ("dout", "NC", .dist = NORMAL(0, 1)), MG_READ("sum", "NC"), \
        MG_READ("gamma", "C", .dist = NORMAL(1, 0.5)), MG_READ("mean", "N"), MG_READ("rstd", "N")
static const mg_kernel backward = {
    .function = "mt_residual_norm_bwd_cpu",
    .sizes = "NC",
    .operand = { MG_ADDED("dx", "NC"), MG_ADDED("dpart", "NC"), MG_ADDED("dgamma", "C"), MG_ADDED("dbeta", "C"),
                 READ_BY_BACKWARD },
    .about = 5,
    .oracle = residual_slope,
    .prepare = mg_06_save_moments,
    .nan = nan_in_dout,
    .least = { 0, 1 },
    .dist = NORMAL(0.5, 1),
    .optional = "dx dpart dgamma dbeta",
};
static const mg_kernel device_backward = {
    .function = "mt_residual_norm_rows_bwd_cuda",
    .sizes = "NC",
    .operand = { MG_ADDED("dx", "NC"), MG_ADDED("dpart", "NC"), READ_BY_BACKWARD },
    .about = 3,
    .oracle = residual_slope,
    .prepare = mg_06_save_moments,
    .nan = nan_in_dout,
    .least = { 0, 1 },
    .dist = NORMAL(0.5, 1),
    .optional = "dx dpart",
    .grid = "N",
};

/* Columns may be in registers, and sums by shuffles. */
static void credit_conflicts(mg_run *run, const mg_kernel_row *row)
{
    const mg_device_report *r = mg_device_counts(run);
    if (r->shared[0].requests + r->shared[1].requests + r->shared[2].requests == 0)
        mg_note(run, "no shared memory, and so no conflicts");
    else
        mg_credit_moves(run, row);
}

/* ---- the rows */
// clang-format off
#define ON_CPU     (MG_EVERYTHING & ~MG_BITS)
#define ON_DEVICE  (MG_ANY_SIZE | MG_LARGE)
#define CPU_COUNT  .size = { 1024, 384 }, .cache = MG_L2 /* 1.5 MiB an array */
#define ONE_CALL   .size = { 48, 768 }, .launches = 1 /* columns as in GPT-2 */
#define COUNT      ONE_CALL, .credit = mg_credit_moves, .count = MG_TRAFFIC
#define CONFLICTS  ONE_CALL, .credit = credit_conflicts, .count = MG_CONFLICTS, .traffic
const mg_kernel_row mg_11_residual_cases[6] = {
    { { 3, "random rows", "sum = x + part is stored; mean, rstd and out are those of the sum, not of x" },
      { &forward }, .asks = ON_CPU, .special = far_row },
    { { 1, "large mean", "the variance is the mean square of the sum minus its mean, which needs a second loop" },
      { &forward }, .dist = NORMAL(1000, 1) },
    { { 1, "constant rows", "the variance is 0, so rstd is 1 / sqrt(eps)" },
      { &forward }, .dist = NORMAL(0, 3), .prepare = constant_rows },
    { { 1, "in place", "sum may be x itself: read x[c] before sum[c] is written, and not again" },
      { &forward }, .in_place = true },
    { { 1, "one column", "the sum minus its mean is 0, so out is beta" }, { &forward }, .size = { 7, 1 } },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY },
      { &forward }, .size = { MG_ZERO }, .special = no_columns },
};
const mg_kernel_row mg_11_residual_traffic[1] = {
    { { 3, "traffic", "add inside the loop over rows: then layernorm finds the row in the cache" },
      { &forward }, CPU_COUNT, .bar = "11.3 traffic", .moves = "x part sum sum out out" },
};
const mg_kernel_row mg_11_residual_backward_cases[5] = {
    { { 2, "dx", "the gradient of x is layernorm's gradient of the sum, plus dsum" },
      { &backward }, .asks = ON_CPU | MG_NAN, .null = "dpart dgamma dbeta" },
    { { 2, "dpart", "x and part are added, so that both have the gradient of the sum; dx may be NULL" },
      { &backward }, .asks = ON_CPU | MG_NAN, .null = "dx dgamma dbeta" },
    { { 2, "layernorm's gradient alone", "dsum may be NULL: nothing else has read the sum" },
      { &backward }, .null = "dsum dgamma dbeta" },
    { { 1, "one column", "layernorm's gradient is 0, so that dx and dpart are dsum" },
      { &backward }, .size = { 7, 1 }, .null = "dgamma dbeta" },
    { { 2, "adds to what is there", "gradients accumulate, and each of them may be NULL" },
      { &backward }, .asks = ON_CPU | MG_SUBSETS, .held = true },
};
const mg_kernel_row mg_11_residual_backward_traffic[1] = {
    { { 3, "traffic", "one loop computes a number of the gradient and adds it to dx and to dpart" },
      { &backward }, CPU_COUNT, .bar = "11.3 backward traffic", .null = "dgamma dbeta",
      .moves = "dsum dout sum dx dx dpart dpart" },
};

/* 11.8 on the device */
const mg_kernel_row mg_11_device_residual_cases[4] = {
    { { 3, "random rows",
        "sum = x + part is stored; mean, rstd and out are those of the sum, over the columns of all threads" },
      { &forward }, .on_device = true, .asks = ON_DEVICE, .special = far_row },
    { { 1, "large mean", "the variance is the mean square of the sum minus its mean, which needs a second pass" },
      { &forward }, .on_device = true, .dist = NORMAL(1000, 1) },
    { { 1, "in place", "sum may be x itself: read x[c] before sum[c] is written, and not again" },
      { &forward }, .on_device = true, .in_place = true },
    { { 1, "no rows", "with N = 0 nothing may be launched", MG_EASY },
      { &forward }, .on_device = true, .asks = MG_NO_ELEMENTS, .special = no_columns },
};
const mg_kernel_row mg_11_device_residual_counts[2] = {
    { { 3, "traffic", "what a thread has computed of its columns it reads from shared memory in the next pass" },
      { &forward }, .on_device = true, COUNT, .moves = "x part sum out" },
    { { 1, "bank conflicts", "neighbouring threads have neighbouring columns" },
      { &forward }, .on_device = true, CONFLICTS = "11.8 residual norm on the device: traffic",
      .moves = "x part sum out" },
};
const mg_kernel_row mg_11_device_residual_backward_cases[4] = {
    { { 2, "dx", "the gradient of x is layernorm's gradient of the sum, plus dsum" },
      { &device_backward }, .asks = ON_DEVICE | MG_NAN, .null = "dpart" },
    { { 2, "dpart", "x and part are added, so that both have the gradient of the sum; dx may be NULL" },
      { &device_backward }, .asks = ON_DEVICE | MG_NAN, .null = "dx" },
    { { 1, "layernorm's gradient alone", "dsum may be NULL: nothing else has read the sum" },
      { &device_backward }, .null = "dsum" },
    { { 2, "adds to what is there", "gradients accumulate: add to what dx and dpart hold" },
      { &device_backward }, .held = true },
};
const mg_kernel_row mg_11_device_residual_backward_counts[2] = {
    { { 3, "traffic", "g and xhat of the first pass are in shared memory for the second; dx and dpart in one loop" },
      { &device_backward }, COUNT, .held = true, .moves = "dsum dout sum dx dx dpart dpart" },
    { { 1, "bank conflicts", "neighbouring threads have neighbouring columns" },
      { &device_backward }, CONFLICTS = "11.8 residual norm backward on the device: traffic", .held = true,
      .moves = "dsum dout sum dx dx dpart dpart" },
};
// clang-format on
