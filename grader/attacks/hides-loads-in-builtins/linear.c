/* attack  02.2 a block of fixed size by __builtin_memcpy, which gcc expands without a call
 * hopes   each line of dout is loaded sixteen times, and none of it is counted
 * stopped by what the counter does not see is refused in a counted unit
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   uses __builtin_memcpy
 */
#include <immintrin.h>
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

static float load(const float *at, int64_t left)
{
    float x[48];
    if (left < 48)
        return *at;
    __builtin_memcpy(x, at, sizeof x);
    return x[0];
}

void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O)
{
    for (int64_t n = 0; dx && n < N; n++)
        for (int64_t i = 0; i < I; i++)
            for (int64_t o = 0; o < O; o++)
                dx[n * I + i] += dout[n * O + o] * w[i * O + o];
    for (int64_t n = 0; dw && n < N; n++)
        for (int64_t i = 0; i < I; i++)
            for (int64_t o = 0; o < O; o++)
                dw[i * O + o] += x[n * I + i] * dout[n * O + o];
    for (int64_t o = 0; db && o < O; o++) {
        double sum = 0;
        for (int64_t n = 0; n < N; n++)
            sum += load(&dout[n * O + o], N * O - n * O - o);
        db[o] += (float)sum;
    }
}
