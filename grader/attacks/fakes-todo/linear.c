/* attack  02.1 right for a single number and for no rows, "not written yet" for all else
 * hopes   an unwritten step is not a failure, and the easy rows earn points
 * stopped by a step whose first row is TODO is TODO in all rows of that title
 * earns   0
 * verdict TODO */
#include "core/base.h"

static void honest(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    for (long n = 0; n < N; n++)
        for (long o = 0; o < O; o++) {
            float sum = b ? b[o] : 0;
            for (long i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    if (N > 1)
        MT_TODO("02.1");
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
