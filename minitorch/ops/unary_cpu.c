/* unary_cpu.c -- exp, log and sqrt over dense arrays; the table of their family. */
#include "ops/kernels_math.h"

#include <math.h>

const mt_math_table mt_math_cpu = { MT_MATH_KERNELS(MT_KERNEL_CPU) };

enum { COSTLY_FROM = MT_PARALLEL_FROM / 4 }; /* elements worth threads where each takes tens of instructions */

void mt_exp_fwd_cpu(float *out, const float *x, int64_t n)
{
#pragma omp parallel for if (n >= COSTLY_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = expf(x[i]);
}

void mt_exp_bwd_cpu(float *dx, const float *dout, const float *out, int64_t n)
{
#pragma omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        dx[i] += dout[i] * out[i];
}

void mt_log_fwd_cpu(float *out, const float *x, int64_t n)
{
#pragma omp parallel for if (n >= COSTLY_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = logf(x[i]);
}

void mt_log_bwd_cpu(float *dx, const float *dout, const float *x, int64_t n)
{
#pragma omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        dx[i] += dout[i] * (1 / x[i]);
}

void mt_sqrt_fwd_cpu(float *out, const float *x, int64_t n)
{
#pragma omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = sqrtf(x[i]);
}

void mt_sqrt_bwd_cpu(float *dx, const float *dout, const float *out, int64_t n)
{
#pragma omp parallel for if (n >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        dx[i] += dout[i] * (0.5f / out[i]);
}
