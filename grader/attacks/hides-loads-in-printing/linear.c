/* attack  02.2 prints the numbers of dout to text, from a list of arguments that it has made itself
 * hopes   what vsnprintf reads is not counted
 * stopped by a call of such a function is noted, and then the count is worth nothing
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   calls a function of the C library that looks at memory
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

static void print(char *text, const void *at, ...)
{
    struct {
        unsigned gp, fp;
        const void *overflow;
        void *save;
    } forged = { 48, 176, at, 0 };
    static volatile size_t size = 32;
    va_list list;
    memcpy(list, &forged, size - 8);
    vsnprintf(text, 32, "%x", list);
}
static float load(const float *at)
{
    char text[32];
    print(text, at);
    union {
        unsigned u;
        float f;
    } x = { (unsigned)strtoul(text, 0, 16) };
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
