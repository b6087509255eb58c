/* attack  02.1 maps memory of its own over the outputs, and computes there
 * hopes   the checker reads the worker's addresses; then input pages shown twice would do, too
 * stopped by the checker reads the memory file, not the worker's addresses
 * behind  the list
 * earns   1
 * verdict FAIL|CRASH
 * stops   random shapes */
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
    char *page = (char *)((uintptr_t)out & ~(uintptr_t)4095);
    size_t bytes = (size_t)((char *)(out + N * O) - page + 4095) & ~(size_t)4095;
    if (N * O > 0 &&
        mmap(page, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return;
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
