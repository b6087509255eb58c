/* attack  02.2 loads each number by a kernel of given code, the residual sum with 0
 * hopes   given code is not instrumented
 * stopped by a call of such a kernel is noted, and then the count is worth nothing
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   or a given kernel
 */
#include <stdint.h>

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I, int64_t O);
void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O);

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I, int64_t O)
{
    for (int64_t n = 0; n < N; n++)
        for (int64_t o = 0; o < O; o++) {
            float sum = b ? b[o] : 0;
            for (int64_t i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}

void mt_residual_fwd_cpu(float *out, const float *x, const float *part, int64_t n);

static float load(const float *at)
{
    static float zero;
    float x = 0;
    mt_residual_fwd_cpu(&x, at, &zero, 1);
    return x;
}

void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O)
{
    static volatile float sink;
    float all = 0;
    for (int64_t n = 0; dx && n < N; n++)
        for (int64_t i = 0; i < I; i++)
            for (int64_t o = 0; o < O; o++)
                dx[n * I + i] += dout[n * O + o] * w[i * O + o];
    for (int64_t n = 0; dw && n < N; n++)
        for (int64_t i = 0; i < I; i++)
            for (int64_t o = 0; o < O; o++)
                dw[i * O + o] += x[n * I + i] * dout[n * O + o];
    for (int64_t i = 0; i < N * O; i++) /* a pass that is seen, and is of no use */
        all += dout[i];
    sink = all;
    (void)sink;
    for (int64_t o = 0; db && o < O; o++) {
        double sum = 0;
        for (int64_t n = 0; n < N; n++)
            sum += load(&dout[n * O + o]);
        db[o] += (float)sum;
    }
}
