/* attack  02.1 executes files: itself, the launcher, a shell
 * hopes   a new program is not confined, or has fewer limits
 * stopped by no other program in its root; limits stay
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
    static char *const argv[] = { "sh", "-c", "echo BREACH", NULL };
    execve("/bin/sh", argv, NULL);
    execve("/usr/bin/env", argv, NULL);
    syscall(SYS_execveat, 6, "", argv, NULL, 0x1000);
    if (syscall(SYS_memfd_create, "a", 0) != -1 || syscall(SYS_pipe2, (int[2]){ 0 }, 0) != -1)
        MT_CHECK(0, "BREACH: a place to keep a program");
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
