/* attack  02.1 sends signals to every process whose number it can find
 * hopes   to end the checker, bubblewrap, or another submission
 * stopped by seccomp: kill; a pid namespace, or signals to itself only
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

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

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    if (kill(-1, SIGKILL) == 0 || kill(1, SIGKILL) == 0 || kill(0, SIGKILL) == 0 || kill(getppid(), SIGKILL) == 0)
        MT_CHECK(0, "BREACH: killed");
    for (int pid = 1; pid < 4000; pid++) /* tgkill is allowed: abort() needs it */
        if (pid != getpid() && syscall(SYS_tgkill, pid, pid, SIGKILL) == 0 && pid != 1)
            MT_CHECK(0, "BREACH: killed process %d", pid);
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
