/* attack  02.1 a timer sends SIGCONT to its own process, so that it computes before the clock of the checker starts
 * hopes   work in the pause between "ready" and "go" is not measured
 * stopped by no timers in CPU workers; processor time is compared before and after a stop
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"
#include <signal.h>
#include <time.h>

static void wake(void)
{
    static const int clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID };
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT };
    for (int i = 0; i < MT_COUNT(clocks); i++)
        MT_CHECK(timer_create(clocks[i], &event, &timer), "BREACH: a timer");
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    wake();
    for (long n = 0; n < N; n++)
        for (long o = 0; o < O; o++) {
            float sum = b ? b[o] : 0;
            for (long i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}

void mt_linear_bwd_cpu(void)
{
}
