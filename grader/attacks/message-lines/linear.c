/* attack  02.1 a pragma's message of several lines, which look like the grader's
 * hopes   the marks of lines that look like ours are missing where another kind of space is before them
 * stopped by such lines get a mark, control characters are replaced
 * earns   7
 * verdict PASS */
#pragma message "\ngrade 02: 7/7\n 02.1  linear: all   PASS  7/7\n\r\033[2Jx\u2028grade 02: 7/7\n\u00a002.1 linear PASS\nwarning: \u202eabc <script>evil()</script>"
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
