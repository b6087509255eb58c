/* attack  02.1 sets x to zero, so that the correct output is b
 * hopes   the checker computes its answer from the inputs after the call
 * stopped by inputs are mapped read-only from sealed memory files
 * earns   0
 * verdict CRASH
 * words   which is an input */
void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    for (long i = 0; i < N * I; i++)
        ((float *)x)[i] = 0;
    if (N * I == 0)
        *(float *)w = 0;
    for (long i = 0; i < N * O; i++)
        out[i] = b ? b[i % O] : 0;
}

void mt_linear_bwd_cpu(void)
{
}
