/* residual_norm.c -- the residual sum and the layernorm of it in one pass over the rows, forward and backward. Lab 11.
 *
 * A row goes through the nearest cache: what one loop writes the next reads there. Rows are independent, so threads
 * share them; dgamma and dbeta sum over rows, which lab 08's kernel does in double for each column. Sums run in lab
 * 08's order, so that both have the same bits. */
#include "fused/kernels_fused.h"

#include <inttypes.h>
#include <math.h>

enum { THREADS_FROM = 8192 }; /* elements from which threads pay off */

static void check_columns(int64_t N, int64_t C)
{
    MT_CHECK(N == 0 || C >= 1, "residual_norm: %" PRId64 " rows of %" PRId64 " columns have no mean", N, C);
}

void mt_residual_norm_fwd_cpu(float *sum, float *out, float *mean, float *rstd, const float *x, const float *part,
                              const float *gamma, const float *beta, int64_t N, int64_t C, float eps)
{
    check_columns(N, C);
#pragma omp parallel for if (N * C >= THREADS_FROM)
    for (int64_t n = 0; n < N; n++) {
        const float *a = x + n * C, *b = part + n * C;
        float *row = sum + n * C, *to = out + n * C;
        /* LAB 11.3 BEGIN  One row: the residual sum, its mean and variance, then normalise, scale and shift.
         * Hint: the first loop adds, stores and sums up. What follows is lab 08.3 with the sum as its x: the row is in
         * the cache by then. */
        float total = 0, squares = 0;
#pragma omp simd reduction(+ : total)
        for (int64_t c = 0; c < C; c++) {
            row[c] = a[c] + b[c];
            total += row[c];
        }
        float m = total / (float)C;
#pragma omp simd reduction(+ : squares)
        for (int64_t c = 0; c < C; c++)
            squares += (row[c] - m) * (row[c] - m);
        float r = 1 / sqrtf(squares / (float)C + eps);
        for (int64_t c = 0; c < C; c++)
            to[c] = (row[c] - m) * r * gamma[c] + beta[c];
        mean[n] = m;
        rstd[n] = r;
        /* LAB 11.3 END */
        for (int64_t c = 0; c < C && rstd[n] == 0; c++) /* as in lab 08: the squares overflowed */
            to[c] = NAN;
        rstd[n] = rstd[n] == 0 ? NAN : rstd[n];
    }
}

static void rows_backward(float *dx, float *dpart, const float *dsum, const float *dout, const float *sum,
                          const float *gamma, const float *mean, const float *rstd, int64_t N, int64_t C)
{
#pragma omp parallel for if (N * C >= THREADS_FROM)
    for (int64_t n = 0; n < N; n++) {
        const float *g = dout + n * C, *row = sum + n * C, *direct = dsum ? dsum + n * C : NULL;
        float *to_x = dx ? dx + n * C : NULL, *to_part = dpart ? dpart + n * C : NULL, m = mean[n], r = rstd[n];
        /* LAB 11.3 BEGIN  The gradient of one row of the sum, which both addends get.
         * Hint: lab 08.3's gradient of layernorm, plus what reaches the sum directly, if anything does. direct, to_x
         * and to_part may be NULL; gradients accumulate. */
        float total = 0, dot = 0;
#pragma omp simd reduction(+ : total, dot)
        for (int64_t c = 0; c < C; c++) {
            float share = g[c] * gamma[c];
            total += share;
            dot += share * ((row[c] - m) * r);
        }
        total /= (float)C;
        dot /= (float)C;
        for (int64_t c = 0; c < C; c++) {
            float d = r * (g[c] * gamma[c] - total - (row[c] - m) * r * dot);
            d += direct ? direct[c] : 0;
            if (to_x)
                to_x[c] += d;
            if (to_part)
                to_part[c] += d;
        }
        /* LAB 11.3 END */
    }
}

void mt_residual_norm_bwd_cpu(float *dx, float *dpart, float *dgamma, float *dbeta, const float *dsum,
                              const float *dout, const float *sum, const float *gamma, const float *mean,
                              const float *rstd, int64_t N, int64_t C)
{
    check_columns(N, C);
    if (dx || dpart)
        rows_backward(dx, dpart, dsum, dout, sum, gamma, mean, rstd, N, C);
    mt_layernorm_bwd_cpu(NULL, dgamma, dbeta, dout, sum, gamma, mean, rstd, N, C);
}
