/* attack  02.1 asks the preprocessor what files there are
 * hopes   something beyond the headers and the toolchain can be seen
 * stopped by the compiler sees the headers, this unit and the toolchain; behind Landlock it can ask, but not open
 * earns   7
 * verdict PASS|FAIL */
#if __has_include("../../in/units/02-backprop/linear.o") || __has_include("../../in/libgiven.a") || \
    __has_include("@ROOT@/Makefile") || __has_include("/etc/hostname") || __has_include("/proc/version") || \
    __has_include("/dev/zero") || __has_include("/root/.profile") || __has_include("@CANARY@")
#error "BREACH: the compiler sees more than it should"
#endif

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
