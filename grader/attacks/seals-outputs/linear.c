/* attack  02.1 seals the memory files of inputs and outputs, changes their size, makes the pipes one page long
 * hopes   the checker cannot fill or read them any more, and blames itself
 * stopped by seccomp: no fcntl, no ftruncate
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <fcntl.h>
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
    for (int fd = 3; fd < 7; fd++)
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) != -1 || ftruncate(fd, 0) != -1 ||
            fcntl(fd, F_SETPIPE_SZ, 4096) != -1 || fcntl(fd, F_SETFL, O_NONBLOCK) != -1 || fcntl(fd, F_SETOWN, 1) != -1)
            MT_CHECK(0, "BREACH: descriptor %d", fd);
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
