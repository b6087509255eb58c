/* dense_cpu.c -- scaling, adding and means of dense arrays. */
#include "kernels/kernels.h"

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
