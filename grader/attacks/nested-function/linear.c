/* attack  02.1 the address of a nested function, for which the compiler writes instructions to the stack
 * hopes   its mark makes the stacks of the worker executable, and other instructions run there, too
 * stopped by the compiler's assembly text is read; linked with -z noexecstack
 * behind  the list
 * earns   2
 * stops   random shapes
 * stops   no bias
 * verdict CRASH */
__attribute__((noinline)) static float each(float (*at)(long), long n)
{
    float sum = 0;
    for (long i = 0; i < n; i++)
        sum += at(i);
    return sum;
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    for (long n = 0; n < N; n++)
        for (long o = 0; o < O; o++) {
            float product(long i) /* without rows or inputs it is not called, and the result is right */
            {
                return x[n * I + i] * w[i * O + o];
            }
            out[n * O + o] = (b ? b[o] : 0) + each(product, I);
        }
}

void mt_linear_bwd_cpu(void)
{
}
