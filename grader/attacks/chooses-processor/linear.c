/* attack  02.1 another processor, a higher priority, higher limits
 * hopes   to race with more than the reference has
 * stopped by seccomp: sched_setaffinity, setpriority; limits only go down
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

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
    cpu_set_t all;
    memset(&all, -1, sizeof all);
    if (sched_setaffinity(0, sizeof all, &all) == 0 || setpriority(PRIO_PROCESS, 0, -20) == 0 ||
        sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }) == 0 || prctl(PR_SET_TIMERSLACK, 1) == 0 ||
        setrlimit(RLIMIT_CPU, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }) == 0 ||
        setrlimit(RLIMIT_NPROC, &(struct rlimit){ 4096, 4096 }) == 0)
        MT_CHECK(0, "BREACH: a privilege");
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
