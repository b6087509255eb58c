/* attack  02.1 opens the solution, the checker's memory, the host's files
 * hopes   one of them is there
 * stopped by seccomp: no open; an empty root, or Landlock
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <fcntl.h>
#include <sys/stat.h>
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
    static const char *const paths[] = { "@ROOT@/solutions/02-backprop/linear.c", "@ROOT@/grader/checks/02-backprop.c",
                                         "@ROOT@/build/release/units/02-backprop/linear.o", "@ROOT@", "/etc/passwd",
                                         "/proc/self/maps", "/proc/self/exe", "/proc/1/mem", "/proc/1/environ", "/proc",
                                         "/sys", "/dev/mem", "/dev/null", "/usr", "/tmp", "/", "." };
    struct stat st;
    for (int i = 0; i < (int)(sizeof paths / sizeof *paths); i++)
        if (open(paths[i], O_RDONLY) != -1 || syscall(SYS_open, paths[i], 0) != -1 ||
            readlink(paths[i], (char *)&st, 9) != -1)
            MT_CHECK(0, "BREACH: opened %s", paths[i]);
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
