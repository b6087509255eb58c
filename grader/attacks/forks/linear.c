/* attack  02.1 a fork bomb, by every call that makes processes
 * hopes   the machine stops
 * stopped by seccomp: no processes
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

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
    if (fork() != -1 || syscall(SYS_vfork) != -1 || syscall(SYS_clone, 17, 0, 0, 0, 0) != -1 ||
        syscall(SYS_clone3, (char[88]){ [32] = 17 }, 88) != -1)
        MT_CHECK(0, "BREACH: a process");
    for (int i = 0; i < 100; i++)
        if (fork() == 0)
            for (;;)
                fork();
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
