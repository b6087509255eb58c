/* math_cpu.c -- dense arrays scaled and added; exp, log and sqrt; the mean; sums and maxima along a dimension. Sums run
 * in double, in an order that does not depend on the number of threads. */
#include "kernels/kernels.h"

#include <inttypes.h>
#include <math.h>

enum { COSTLY_FROM = MT_PARALLEL_FROM / 4 }; /* elements worth threads where each takes tens of instructions */

/* ---- element by element ---------------------------------------------------------------------------- */

void mt_scale_fwd_cpu(float *out, const float *x, float factor, int64_t n)
{
#pragma omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = factor * x[i];
}

void mt_scale_bwd_cpu(float *dx, const float *dout, float factor, int64_t n)
{
#pragma omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        dx[i] += factor * dout[i];
}

void mt_residual_fwd_cpu(float *out, const float *x, const float *part, int64_t n)
{
#pragma omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] + part[i];
}

/* value of x; slope at s, which is x or out, as kernels/kernels.h says. */
/* clang-format off */
#define UNARY(name, value, slope)                                                         \
    void mt_##name##_fwd_cpu(float *out, const float *x, int64_t n)                       \
    {                                                                                     \
        _Pragma("omp parallel for if (n >= COSTLY_FROM) schedule(static)")                \
        for (int64_t i = 0; i < n; i++)                                                   \
            out[i] = value(x[i]);                                                         \
    }                                                                                     \
    void mt_##name##_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n) \
    {                                                                                     \
        _Pragma("omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)")           \
        for (int64_t i = 0; i < n; i++) {                                                 \
            float s = saved[i];                                                           \
            dx[i] += dout[i] * (slope);                                                   \
        }                                                                                 \
    }
/* clang-format on */

UNARY(exp, expf, s)
UNARY(log, logf, 1 / s)
UNARY(sqrt, sqrtf, 0.5f / s)

/* ---- sums ------------------------------------------------------------------------------------------- */

/* Eight chains of additions, which the processor runs side by side. */
static double row_sum(const float *x, int64_t n)
{
    double lane[8] = { 0 }, sum = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += x[i + l];
    for (; i < n; i++)
        sum += x[i];
    for (int l = 0; l < 8; l++)
        sum += lane[l];
    return sum;
}

double mt_sum_cpu(const float *x, int64_t n)
{
    enum { PARTS = 64 }; /* of a long sum, whatever the number of threads */
    double part[PARTS], sum = 0;
    if (n < MT_PARALLEL_FROM)
        return row_sum(x, n);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < PARTS; p++)
        part[p] = row_sum(x + n * p / PARTS, n * (p + 1) / PARTS - n * p / PARTS);
    for (int p = 0; p < PARTS; p++)
        sum += part[p];
    return sum;
}

void mt_mean_fwd_cpu(float *out, const float *x, int64_t n)
{
    out[0] = (float)mt_sum_cpu(x, n) * (1 / (float)n);
}

void mt_mean_bwd_cpu(float *dx, const float *dout, int64_t n)
{
    float share = dout[0] * (1 / (float)n);
    for (int64_t i = 0; i < n; i++)
        dx[i] += share;
}

/* ---- sums along a dimension --------------------------------------------------------------------------- */

enum { COLUMNS = 128 }; /* that one thread reduces side by side: whole cache lines of x, the sums in its own cache */

/* out[c] = the sum over b of x[b * C + c], for a few c. */
static void column_sums(float *out, const float *x, int64_t B, int64_t C, int64_t columns)
{
    double sum[COLUMNS] = { 0 };
    for (int64_t b = 0; b < B; b++)
        for (int64_t c = 0; c < columns; c++)
            sum[c] += x[b * C + c];
    for (int64_t c = 0; c < columns; c++)
        out[c] = (float)sum[c];
}

void mt_sum_middle_cpu(float *out, const float *x, int64_t A, int64_t B, int64_t C)
{
    bool threads = A * B * C >= MT_PARALLEL_FROM;
    if (C == 1 && A == 1) {
        out[0] = (float)mt_sum_cpu(x, B);
        return;
    }
    int64_t blocks = (C + COLUMNS - 1) / COLUMNS;
#pragma omp parallel for if (threads) schedule(static)
    for (int64_t task = 0; task < A * blocks; task++) {
        int64_t a = task / blocks, c = task % blocks * COLUMNS;
        if (C == 1)
            out[a] = (float)mt_sum_cpu(x + a * B, B);
        else
            column_sums(out + a * C + c, x + a * B * C + c, B, C, mt_min(COLUMNS, C - c));
    }
}

/* ---- maxima ----------------------------------------------------------------------------------------- */

/* A NaN is larger than anything: it must not be lost on the way. */
static bool larger(float x, float best)
{
    return x > best || (isnan(x) && !isnan(best));
}

static void column_maxima(float *out, int64_t *at, const float *x, int64_t B, int64_t C, int64_t columns)
{
    for (int64_t c = 0; c < columns; c++) {
        out[c] = x[c];
        at[c] = 0;
    }
    for (int64_t b = 1; b < B; b++)
        for (int64_t c = 0; c < columns; c++)
            if (larger(x[b * C + c], out[c])) {
                out[c] = x[b * C + c];
                at[c] = b;
            }
}

void mt_max_middle_fwd_cpu(float *out, int64_t *at, const float *x, int64_t A, int64_t B, int64_t C)
{
    int64_t blocks = (C + COLUMNS - 1) / COLUMNS;
    MT_CHECK(B >= 1 || A * C == 0, "the largest of no elements: x is [%" PRId64 ",%" PRId64 ",%" PRId64 "]", A, B, C);
#pragma omp parallel for if (A * B * C >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t task = 0; task < A * blocks; task++) {
        int64_t a = task / blocks, c = task % blocks * COLUMNS;
        column_maxima(out + a * C + c, at + a * C + c, x + a * B * C + c, B, C, mt_min(COLUMNS, C - c));
    }
}

void mt_max_middle_bwd_cpu(float *dx, const float *dout, const int64_t *at, int64_t A, int64_t B, int64_t C)
{
#pragma omp parallel for if (A * C >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t a = 0; a < A; a++)
        for (int64_t c = 0; c < C; c++)
            dx[(a * B + at[a * C + c]) * C + c] += dout[a * C + c];
}
