/* attack  02.1 allocates and touches as much memory as it can
 * hopes   the machine swaps, or kills another process
 * stopped by RLIMIT_AS of the worker; cgroup where there is one
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <sys/mman.h>

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
    static _Thread_local char *piece[4096];
    int count = 0;
    while (count < 4096 && (piece[count] = mmap(NULL, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED)
        count++; /* not written: that would be seen as a race of the two calls that map it */
    if (count == 4096)
        MT_CHECK(0, "BREACH: 4 GiB");
    while (count)
        munmap(piece[--count], 1 << 20);
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
