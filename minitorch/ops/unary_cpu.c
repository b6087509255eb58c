/* unary_cpu.c -- exp, log, sqrt and dropout over dense arrays; the table of their family. */
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

/* ---- dropout --------------------------------------------------------------------------------------- */

/* Four elements share a block of the generator (mt_rng_fill_uniform's order). */
static void dropout(float *out, const float *x, int64_t n, float p, const mt_rng *rng, bool add)
{
    float keep = 1 / (1 - p);
#pragma omp parallel for if (n >= COSTLY_FROM) schedule(static)
    for (int64_t block = 0; block < (n + 3) / 4; block++) {
        float u[4];
        mt_rng at = *rng;
        at.counter += (uint64_t)block;
        mt_rng_fill_uniform(&at, u, 4, 0, 1);
        for (int64_t i = 4 * block; i < mt_min(n, 4 * block + 4); i++) {
            float value = u[i % 4] >= p ? x[i] * keep : 0;
            out[i] = add ? out[i] + value : value;
        }
    }
}

void mt_dropout_fwd_cpu(float *out, const float *x, int64_t n, float p, const mt_rng *rng)
{
    dropout(out, x, n, p, rng, false);
}

void mt_dropout_bwd_cpu(float *dx, const float *dout, int64_t n, float p, const mt_rng *rng)
{
    dropout(dx, dout, n, p, rng, true);
}
