/* attack  02.1 a thread sends SIGCONT to its own process without end
 * hopes   to run while the checker has stopped it: to read inputs before, write outputs after the timed part
 * stopped by seccomp: no SIGCONT
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
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

static void *wake(void *unused)
{
    while (syscall(SYS_tgkill, getpid(), getpid(), SIGCONT) == 0)
        ;
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    if (syscall(SYS_tgkill, getpid(), getpid(), SIGCONT) == 0)
        MT_CHECK(0, "BREACH: may undo SIGSTOP");
    pthread_create(&thread, NULL, wake, NULL);
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
