/* 11-gelu.c -- bias + GELU (steps 11.5, 11.10): the kernels, on the CPU and on the device, and their rows. The oracle
 * is lab 02's GELU of the sum x + bias, whose rounding moves GELU by at most 1.13 of itself, and its slope by at most
 * 0.5. */
#include "checks/11-fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks/oracle.h"

/* x + bias, whose operands are the first after `before` others; the caller frees it. */
static double *sums(const mg_trial *t, int before)
{
    int64_t C = t->size[1], n = t->size[0] * C;
    double *z = mg_doubles(n);
    for (int64_t i = 0; i < n; i++)
        z[i] = t->x[before][i] + t->x[before + 1][i % C];
    return z;
}

static void bias_gelu(mg_trial *t)
{
    int64_t n = t->size[0] * t->size[1];
    double *z = sums(t, 1);
    mg_oracle_act(MG_GELU_TANH, t->v[0], t->e[0], z, n);
    for (int64_t i = 0; i < n; i++)
        t->e[0][i] += 1.13 * MG_U * fabs(z[i]);
    free(z);
}

/* The gradients of all sums, of a column with what its parts may be wrong by. Sums in double round once; 16 roundings
 * also allow those of a tree in f32, but not of thousands of numbers one after the other. */
static void expect_columns(mg_trial *t, const double *d, const double *e)
{
    int64_t N = t->size[0], C = t->size[1];
    for (int64_t i = 0; i < N * C; i++) {
        t->e[1][i % C] += e[i] + 16 * MG_U * fabs(d[i]);
        t->v[1][i % C] += d[i];
    }
    for (int64_t c = 0; c < C; c++)
        t->e[1][c] += 2 * MG_U * fabs(t->v[1][c]);
}

static void bias_gelu_slope(mg_trial *t)
{
    int64_t n = t->size[0] * t->size[1];
    double *z = sums(t, 3), *d = mg_doubles(n), *e = mg_doubles(n), *v = t->v[0];
    mg_oracle_act_add(MG_GELU_TANH, d, e, t->x[2], z, n);
    for (int64_t i = 0; i < n; i++) {
        e[i] += 0.5 * MG_U * fabs(t->x[2][i]);
        if (v) {
            t->e[0][i] += e[i] + 2 * MG_U * (fabs(v[i]) + fabs(d[i]));
            v[i] += d[i];
        }
    }
    if (t->v[1])
        expect_columns(t, d, e);
    free(z), free(d), free(e);
}

static void nan_in_x(mg_trial *t)
{
    mg_nan_at(t, 1);
}

/* One element is NaN: of x, of dout, or of dout where the slope is 0 with any bias that is drawn. */
static void nan_of_slope(mg_trial *t)
{
    int64_t i = mt_rng_below(mg_rng(t->run), t->size[0] * t->size[1]);
    if (t->place > 1)
        t->f[3][i] = -20;
    t->f[t->place > 0 ? 2 : 3][i] = NAN;
}

/* All rows are the first. */
static void same_rows(mg_trial *t)
{
    for (int64_t i = t->size[1]; i < t->size[0] * t->size[1]; i++) {
        t->f[2][i] = t->f[2][i - t->size[1]];
        t->f[3][i] = t->f[3][i - t->size[1]];
    }
}

static const mg_kernel forward = {
    .function = "mt_bias_gelu_fwd_cpu",
    .sizes = "NC",
    .operand = { MG_WRITTEN("out", "NC"), MG_READ("x", "NC"), MG_READ("bias", "C", .dist = NORMAL(0, 1)) },
    .oracle = bias_gelu,
    .nan = nan_in_x,
    .dist = NORMAL(0, 1.5),
    .grid = "NC",
};
static const mg_kernel backward = {
    .function = "mt_bias_gelu_bwd_cpu",
    .sizes = "NC",
    .operand = { MG_ADDED("dx", "NC"), MG_ADDED("dbias", "C"), MG_READ("dout", "NC", .dist = NORMAL(0, 1)),
                 MG_READ("x", "NC"), MG_READ("bias", "C", .dist = NORMAL(0, 1)) },
    .oracle = bias_gelu_slope,
    .nan = nan_of_slope,
    .dist = NORMAL(0, 1.5),
    .optional = "dx dbias",
    .grid = "NC",
};

/* ---- the rows */
// clang-format off
#define ON_CPU     (MG_EVERYTHING & ~MG_BITS)
#define ON_DEVICE  (MG_ANY_SIZE | MG_LARGE)
#define CPU_COUNT  .size = { 1024, 384 }, .cache = MG_L2 /* 1.5 MiB an array */
#define COUNT      .size = { 192, 768 }, .credit = mg_credit_moves, .launches = 1, .count = MG_TRAFFIC
const mg_kernel_row mg_11_gelu_cases[6] = {
    { { 3, "values", "GELU by tanh, as in lab 02.5, of z = x + bias; the bias is that of the column" },
      { &forward }, .asks = ON_CPU },
    { { 1, "large numbers", "tanh is 1 or -1 for large numbers: no exponential may overflow" },
      { &forward }, .dist = MIXED(-20, 30) },
    { { 1, "a NaN", "the result is NaN where x is, and nowhere else" }, { &forward }, .asks = MG_NAN },
    { { 1, "one column", "with C = 1 every row has the same bias" }, { &forward }, .size = { 61, 1 } },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY },
      { &forward }, .size = { MG_ZERO } },
    { { 3, "traffic", "keep the sum x + bias in a variable of the loop: an array of sums is written and read again" },
      { &forward }, CPU_COUNT, .bar = "11.5 traffic", .moves = "x out out" },
};
const mg_kernel_row mg_11_gelu_backward_cases[7] = {
    { { 2, "dx", "the gradient is dout times the slope of GELU at x + bias, with the bias of this column" },
      { &backward }, .asks = ON_CPU | MG_NAN, .null = "dbias" },
    { { 2, "dbias", "the bias is added to every row, so that its gradient is the sum over the rows; dx may be NULL" },
      { &backward }, .asks = ON_CPU | MG_NAN, .null = "dx" },
    { { 1, "large numbers", "for large numbers 1 - tanh^2 is 0, and 0 times what overflows is NaN" },
      { &backward }, .dist = MIXED(-20, 30) },
    { { 1, "many rows", "in f32 a sum of 20,000 numbers is wrong in the fourth digit: add them up in double" },
      { &backward }, .null = "dx", .size = { 20000, 3 }, .prepare = same_rows },
    { { 1, "adds to what is there", "gradients accumulate: add to what dx and dbias hold" },
      { &backward }, .held = true },
    { { 1, "no rows", "with N = 0 gradients stay as they are", MG_EASY },
      { &backward }, .size = { MG_ZERO }, .held = true },
    { { 3, "traffic",
        "one pass over x and dout: a row's gradients are in the cache when they are added to dx and to the sums" },
      { &backward }, CPU_COUNT, .bar = "11.5 backward traffic", .moves = "dout x dx dx" },
};
const mg_kernel_row mg_11_gelu_device_cases[4] = {
    { { 2, "values", "each block has ROWS rows from `first` on, at most up to N; the bias is that of the column" },
      { &forward }, .on_device = true, .asks = ON_DEVICE },
    { { 1, "large numbers", "no exponential may overflow: mt_gelu_tanh is right for all numbers" },
      { &forward }, .on_device = true, .dist = MIXED(-20, 30) },
    { { 1, "a NaN", "the result is NaN where x is, and nowhere else" },
      { &forward }, .on_device = true, .asks = MG_NAN },
    { { 1, "no rows", "with N = 0 nothing may be launched", MG_EASY },
      { &forward }, .on_device = true, .asks = MG_NO_ELEMENTS },
};
const mg_kernel_row mg_11_gelu_device_counts[1] = {
    { { 3, "traffic", "neighbouring threads have neighbouring columns, and read the bias once for all their rows" },
      { &forward }, .on_device = true, COUNT, .moves = "x out" },
};
const mg_kernel_row mg_11_gelu_device_backward_cases[4] = {
    { { 2, "dx", "the gradient is dout times the slope of GELU at x + bias, with the bias of this column" },
      { &backward }, .on_device = true, .asks = ON_DEVICE | MG_NAN, .null = "dbias" },
    { { 2, "dbias", "dbias gets the sum over the rows of all warps; dx may be NULL" },
      { &backward }, .on_device = true, .asks = ON_DEVICE | MG_NAN, .null = "dx" },
    { { 1, "adds to what is there", "gradients accumulate: add to what dx and dbias hold" },
      { &backward }, .on_device = true, .held = true },
    { { 1, "many rows", "in f32 the sum is wrong in the fourth digit: add up in double" },
      { &backward }, .on_device = true, .null = "dx", .size = { 20000, 3 }, .prepare = same_rows },
};
const mg_kernel_row mg_11_gelu_device_backward_counts[1] = {
    { { 3, "traffic", "dx and the column's sum are of one loop, which reads dout and x once" },
      { &backward }, .on_device = true, COUNT, .moves = "dout x dx dx" },
};
// clang-format on
