/* attack  02.1 writes instructions to memory and makes it executable, by mmap and by mprotect
 * hopes   code that is data in the unit is judged by nobody
 * stopped by seccomp: memory of a worker is never executable
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
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC, some = PROT_READ | PROT_EXEC;
    static const int kinds[] = { MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS };
    for (int i = 0; i < 2; i++) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, kinds[i], -1, 0);
        MT_CHECK(page != MAP_FAILED, "no page");
        MT_CHECK(mprotect(page, 4096, PROT_READ) == 0, "protected memory is allowed");
        if (mprotect(page, 4096, some) == 0 || mprotect(page, 4096, all) == 0 ||
            pkey_mprotect(page, 4096, all, -1) == 0)
            MT_CHECK(0, "BREACH: made memory executable");
        if (mmap(NULL, 4096, all, kinds[i], -1, 0) != MAP_FAILED ||
            mmap(NULL, 4096, PROT_EXEC, kinds[i], -1, 0) != MAP_FAILED)
            MT_CHECK(0, "BREACH: executable memory");
        munmap(page, 4096);
    }
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
