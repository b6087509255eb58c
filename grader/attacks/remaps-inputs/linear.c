/* attack  02.1 maps the inputs' memory file for writing, unprotects it, punches holes into it, writes to its descriptor
 * hopes   to change the inputs on the checker's side
 * stopped by inputs are sealed memory files
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <stdint.h>
#include <sys/mman.h>
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
    char *page = (char *)((uintptr_t)x & ~4095ul);
    if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0) != MAP_FAILED)
        MT_CHECK(0, "BREACH: mapped the inputs for writing");
    /* Copies that a call by two threads gets are the process's own memory, and may be unprotected. */
    if (N * I && mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0 && madvise(page, 4096, MADV_REMOVE) == 0)
        MT_CHECK(0, "BREACH: unprotected the inputs");
    if (N * I && madvise(page, 4096, MADV_REMOVE) == 0)
        MT_CHECK(0, "BREACH: emptied the inputs");
    if (write(5, "", 1) == 1)
        MT_CHECK(0, "BREACH: wrote to the inputs' file");
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
