/* layernorm.c -- layer normalisation over rows, forward and backward.
 *
 * Rows are independent in forward and in dx: threads split them. dgamma and dbeta sum over rows: threads split
 * columns, so one thread computes each sum, with the same bits for any number of threads. */
#include "models/kernels_gpt2.h"

#include <inttypes.h>
#include <math.h>

enum {
    THREADS_FROM = 8192,
    COLUMNS = 128
}; /* elements from which threads pay off; columns that one thread sums at once */

static void check_columns(int64_t N, int64_t C)
{
    MT_CHECK(N == 0 || C >= 1, "layernorm: %" PRId64 " rows of %" PRId64 " columns have no mean", N, C);
}

static void fill_nan(float *row, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        row[c] = NAN;
}

void mt_layernorm_fwd_cpu(float *out, float *mean, float *rstd, const float *x, const float *gamma, const float *beta,
                          int64_t N, int64_t C, float eps)
{
    check_columns(N, C);
#pragma omp parallel for if (N * C >= THREADS_FROM)
    for (int64_t n = 0; n < N; n++) {
        const float *row = x + n * C;
        float *to = out + n * C;
        /* LAB 08.3 BEGIN  One row: its mean, its variance, then normalise, scale and shift.
         * Hint: two passes. The mean of the squares minus the square of the mean cancels when the mean is large. */
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < C; c++)
            sum += row[c];
        float m = sum / (float)C;
#pragma omp simd reduction(+ : squares)
        for (int64_t c = 0; c < C; c++)
            squares += (row[c] - m) * (row[c] - m);
        float r = 1 / sqrtf(squares / (float)C + eps);
        for (int64_t c = 0; c < C; c++)
            to[c] = (row[c] - m) * r * gamma[c] + beta[c];
        mean[n] = m;
        rstd[n] = r;
        /* LAB 08.3 END */
        if (rstd[n] == 0) /* the squares overflowed: the row is not known, and zeros would hide that */
            fill_nan(to, C), rstd[n] = NAN;
    }
}

static void rows_backward(float *dx, const float *dout, const float *x, const float *gamma, const float *mean,
                          const float *rstd, int64_t N, int64_t C)
{
#pragma omp parallel for if (N * C >= THREADS_FROM)
    for (int64_t n = 0; n < N; n++) {
        const float *g = dout + n * C, *row = x + n * C;
        float *to = dx + n * C, m = mean[n], r = rstd[n];
        /* LAB 08.3 BEGIN  dx of one row: the mean and the variance depend on every x of the row.
         * Hint: with g = dout * gamma and xhat, the normalised row, two means over the row are enough: of g, and of
         * what g does to the variance. models/kernels_gpt2.h has the formula. */
        float sum = 0, dot = 0;
#pragma omp simd reduction(+ : sum, dot)
        for (int64_t c = 0; c < C; c++) {
            float share = g[c] * gamma[c];
            sum += share;
            dot += share * ((row[c] - m) * r);
        }
        sum /= (float)C;
        dot /= (float)C;
        for (int64_t c = 0; c < C; c++)
            to[c] += r * (g[c] * gamma[c] - sum - (row[c] - m) * r * dot);
        /* LAB 08.3 END */
    }
}

/* Columns begin .. begin+count-1 of dgamma and dbeta, in double over the rows. */
static void columns_backward(float *dgamma, float *dbeta, const float *dout, const float *x, const float *mean,
                             const float *rstd, int64_t N, int64_t C, int64_t begin, int64_t count)
{
    double scale[COLUMNS] = { 0 }, shift[COLUMNS] = { 0 };
    for (int64_t n = 0; n < N; n++) {
        const float *g = dout + n * C + begin, *row = x + n * C + begin;
        /* LAB 08.3 BEGIN  What row n adds to the sums of its columns.
         * Hint: out = xhat * gamma + beta: what does each of the two parameters of a column get from row n? */
        for (int64_t c = 0; c < count; c++) {
            scale[c] += g[c] * ((row[c] - mean[n]) * rstd[n]);
            shift[c] += g[c];
        }
        /* LAB 08.3 END */
    }
    for (int64_t c = 0; c < count && dgamma; c++)
        dgamma[begin + c] += (float)scale[c];
    for (int64_t c = 0; c < count && dbeta; c++)
        dbeta[begin + c] += (float)shift[c];
}

void mt_layernorm_bwd_cpu(float *dx, float *dgamma, float *dbeta, const float *dout, const float *x, const float *gamma,
                          const float *mean, const float *rstd, int64_t N, int64_t C)
{
    check_columns(N, C);
    if (dx)
        rows_backward(dx, dout, x, gamma, mean, rstd, N, C);
    if (!dgamma && !dbeta)
        return;
#pragma omp parallel for if (N * C >= THREADS_FROM)
    for (int64_t c = 0; c < C; c += COLUMNS)
        columns_backward(dgamma, dbeta, dout, x, mean, rstd, N, C, c, mt_min(COLUMNS, C - c));
}
