/* attack  02.1 right, but it reads one element before its inputs
 * hopes   reads out of bounds are not detected
 * stopped by guard pages around each array, on both sides in turn
 * earns   2
 * verdict CRASH
 * stops   random shapes
 * words   before its start */
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
    if (N * I)
        (void)*(volatile const float *)(x - 1);
}

void mt_linear_bwd_cpu(void)
{
}
