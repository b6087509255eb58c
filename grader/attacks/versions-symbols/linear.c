/* attack  02.1 defines malloc and mt_dtype_size under names with a version
 * hopes   the list compares whole names; the linker takes them for the default version
 * stopped by no name with a version
 * earns   0
 * verdict FAIL
 * words   a symbol with a strange name */
#include <stdint.h>
uint64_t own_mix(uint64_t x);
uint64_t own_mix(uint64_t x) { return x; }
void *own_malloc(unsigned long n);
void *own_malloc(unsigned long n) { (void)n; return 0; }
__asm__(".symver own_mix,mt_dtype_size@@V1\n.symver own_malloc,malloc@@V1");
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
    honest(out, x, w, b, N, I, O);
}
void mt_linear_bwd_cpu(void)
{
}
