/* attack  02.2 loads by __builtin_memcpy of a variable size, which the compiler expands where a function asks for it
 * hopes   the call is wrapped, its expansion is not
 * stopped by GCC's own forms of functions that move data are refused in a counted unit
 * earns   0
 * verdict FAIL
 * words   uses __builtin_memcpy
 */
#include <stdint.h>
#include <string.h>

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

__attribute__((target("inline-all-stringops"))) static void copy(void *to, const void *from, size_t n)
{
    __builtin_memcpy(to, from, n);
}
static float load(const float *at)
{
    float x;
    static volatile size_t size = sizeof x;
    copy(&x, at, size);
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
