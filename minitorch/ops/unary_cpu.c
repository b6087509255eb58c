/* unary_cpu.c -- exp, log, sqrt, scale and dropout over dense arrays. */
#include "core/rng.h"
#include "ops/kernels_nd.h"

#include <math.h>

/* Elements from which threads are woken: cheap passes wait for memory anyway, costly ones keep every core busy. */
enum { CHEAP_FROM = 32768, COSTLY_FROM = 8192 };

#define UNARY(name, from, value, slope)                                                                   \
    void mt_##name##_fwd_cpu(float *out, const float *in, int64_t n)                                      \
    {                                                                                                     \
        bool threads = n >= from;                                                                         \
        _Pragma("omp parallel for if (threads) schedule(static)") for (int64_t i = 0; i < n; i++)         \
        {                                                                                                 \
            float x = in[i];                                                                              \
            out[i] = value;                                                                               \
        }                                                                                                 \
    }                                                                                                     \
    void mt_##name##_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)                 \
    {                                                                                                     \
        _Pragma("omp parallel for if (n >= CHEAP_FROM) schedule(static)") for (int64_t i = 0; i < n; i++) \
        {                                                                                                 \
            float s = saved[i];                                                                           \
            dx[i] += dout[i] * (slope);                                                                   \
        }                                                                                                 \
    }

UNARY(exp, COSTLY_FROM, expf(x), s)         /* saved: out */
UNARY(log, COSTLY_FROM, logf(x), 1 / s)     /* saved: x */
UNARY(sqrt, CHEAP_FROM, sqrtf(x), 0.5f / s) /* saved: out */

void mt_scale_fwd_cpu(float *out, const float *x, float factor, int64_t n)
{
#pragma omp parallel for if (n >= CHEAP_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = factor * x[i];
}

void mt_scale_bwd_cpu(float *dx, const float *dout, float factor, int64_t n)
{
#pragma omp parallel for if (n >= CHEAP_FROM) schedule(static)
    for (int64_t i = 0; i < n; i++)
        dx[i] += factor * dout[i];
}

/* ---- dropout --------------------------------------------------------------------------------------- */

/* Whether element i survives: four elements share a block of the generator (mt_rng_fill_uniform's order). */
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
