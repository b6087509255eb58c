/* attack  02.1 flushes denormals, rounds upwards, unmasks floating-point faults after its call
 * hopes   the comparison is made in its process, with its modes; 1 ulp more is given
 * stopped by values are computed and compared in the checker
 * earns   7
 * verdict CRASH
 * stops   random shapes */
#include <xmmintrin.h>

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
    honest(out, x, w, b, N, I, O);
    _mm_setcsr(0x8040 | 0x4000); /* flush to zero, denormals are zero, round up, every exception a signal */
    volatile float zero = 0, bad = 1 / zero;
    (void)bad;
}

void mt_linear_bwd_cpu(void)
{
}
