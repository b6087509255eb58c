/* unary_cpu.c -- exp, log and sqrt over dense arrays. */
#include "ops/kernels_given.h"

#include <math.h>

enum { COSTLY_FROM = MT_PARALLEL_FROM / 4 }; /* elements worth threads where each takes tens of instructions */

/* value of x; slope at s, which is x or out, as ops/kernels_given.h says. */
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
