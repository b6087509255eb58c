/* attack  02.1 endless recursion, by the main thread
 * hopes   the stack overwrites other memory
 * stopped by a guard page ends the stack
 * earns   1
 * verdict CRASH
 * words   the stack overflowed */
static long dig(volatile long *hole)
{
    volatile long below[1000];
    below[0] = *hole;
    return dig(below) + below[0];
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    long start = 1;
    (void)x, (void)w, (void)b, (void)I, (void)O;
    if (N)
        out[0] = (float)dig(&start);
}

void mt_linear_bwd_cpu(void)
{
}
