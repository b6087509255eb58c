/* attack  02.2 loads each byte by a comparison of strings
 * hopes   functions that only look at memory are not counted
 * stopped by a call of such a function is noted, and then the count is worth nothing
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   calls a function of the C library that looks at memory
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

static unsigned byte(const char *at)
{
    static const char *volatile nothing = "";
    static volatile size_t one = 1;
    return (unsigned)strncmp(at, nothing, one) & 255;
}
static float load(const float *at)
{
    const char *c = (const char *)at;
    union {
        unsigned u;
        float f;
    } x = { byte(c) | byte(c + 1) << 8 | byte(c + 2) << 16 | byte(c + 3) << 24 };
    return x.f;
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
