/* attack  02.1 a thread bomb
 * hopes   the machine stops, or other submissions do
 * stopped by RLIMIT_NPROC inside the user namespace; memory behind Landlock. Its next call, of more threads, gets none
 * behind  the list
 * earns   0
 * verdict CRASH
 * words   Thread creation failed */
#include "core/base.h"

#include <pthread.h>
#include <unistd.h>

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

static void *idle(void *unused)
{
    for (;;)
        sleep(1);
    return unused;
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    static int count;
    pthread_t thread;
    for (int refused = 0; refused < 3 && count < 1000;)
        refused = pthread_create(&thread, NULL, idle, NULL) ? refused + 1 : (count++, 0);
    if (count > 100)
        MT_CHECK(0, "BREACH: %d threads", count);
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
