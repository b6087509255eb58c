/* attack  02.1 sleeps in every call, for longer than any limit, in pieces
 * hopes   only processor time is limited, and it uses none
 * stopped by time limit of the call, by the clock
 * behind  the list
 * earns   4
 * verdict TIMEOUT
 * words   no answer within 2 seconds */
#include <time.h>

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
    for (int i = 0; i < 1000000; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
