/* reduce_cpu.c -- sums and maxima along a dimension; gathering rows. Sums run in double, over parts that do not depend on
 * the number of threads. */
#include "ops/kernels_nd.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    THREADS_FROM = 32768, /* elements */
    COLUMNS = 128,        /* that one thread reduces side by side: whole cache lines of x, sums at hand */
    PARTS = 64,           /* of one long sum */
};

/* ---- sums ------------------------------------------------------------------------------------------- */

/* Neighbours, in eight chains that the processor adds side by side. */
static double row_sum(const float *x, int64_t n)
{
    double lane[8] = { 0 }, sum = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += x[i + l];
    for (; i < n; i++)
        sum += x[i];
    for (int l = 0; l < 8; l++)
        sum += lane[l];
    return sum;
}

/* One sum of everything, shared by the threads. */
static double long_sum(const float *x, int64_t n)
{
    double part[PARTS], sum = 0;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < PARTS; p++)
        part[p] = row_sum(x + n * p / PARTS, n * (p + 1) / PARTS - n * p / PARTS);
    for (int p = 0; p < PARTS; p++)
        sum += part[p];
    return sum;
}

/* out[c] = the sum over b of x[b * C + c], for a few c. */
static void column_sums(float *out, const float *x, int64_t B, int64_t C, int64_t columns)
{
    double sum[COLUMNS] = { 0 };
    for (int64_t b = 0; b < B; b++)
        for (int64_t c = 0; c < columns; c++)
            sum[c] += x[b * C + c];
    for (int64_t c = 0; c < columns; c++)
        out[c] = (float)sum[c];
}

void mt_sum_middle_cpu(float *out, const float *x, int64_t A, int64_t B, int64_t C)
{
    bool threads = A * B * C >= THREADS_FROM;
    if (C == 1 && A == 1 && threads) {
        out[0] = (float)long_sum(x, B);
        return;
    }
    int64_t blocks = (C + COLUMNS - 1) / COLUMNS;
#pragma omp parallel for if (threads) schedule(static)
    for (int64_t task = 0; task < A * blocks; task++) {
        int64_t a = task / blocks, c = task % blocks * COLUMNS;
        if (C == 1)
            out[a] = (float)row_sum(x + a * B, B);
        else
            column_sums(out + a * C + c, x + a * B * C + c, B, C, mt_min(COLUMNS, C - c));
    }
}

void mt_mean_fwd_cpu(float *out, const float *x, int64_t n)
{
    mt_sum_middle_cpu(out, x, 1, n, 1);
    out[0] *= 1 / (float)n;
}

void mt_mean_bwd_cpu(float *dx, const float *dout, int64_t n)
{
    float share = dout[0] * (1 / (float)n);
    for (int64_t i = 0; i < n; i++)
        dx[i] += share;
}

/* ---- maxima ----------------------------------------------------------------------------------------- */

/* A NaN is larger than anything: it must not be lost on the way. */
static bool larger(float x, float best)
{
    return x > best || (isnan(x) && !isnan(best));
}

static void column_maxima(float *out, int64_t *at, const float *x, int64_t B, int64_t C, int64_t columns)
{
    for (int64_t c = 0; c < columns; c++) {
        out[c] = x[c];
        at[c] = 0;
    }
    for (int64_t b = 1; b < B; b++)
        for (int64_t c = 0; c < columns; c++)
            if (larger(x[b * C + c], out[c])) {
                out[c] = x[b * C + c];
                at[c] = b;
            }
}

void mt_max_middle_fwd_cpu(float *out, int64_t *at, const float *x, int64_t A, int64_t B, int64_t C)
{
    int64_t blocks = (C + COLUMNS - 1) / COLUMNS;
    MT_CHECK(B >= 1 || A * C == 0, "the largest of no elements: x is [%" PRId64 ",%" PRId64 ",%" PRId64 "]", A, B, C);
#pragma omp parallel for if (A * B * C >= THREADS_FROM) schedule(static)
    for (int64_t task = 0; task < A * blocks; task++) {
        int64_t a = task / blocks, c = task % blocks * COLUMNS;
        column_maxima(out + a * C + c, at + a * C + c, x + a * B * C + c, B, C, mt_min(COLUMNS, C - c));
    }
}

void mt_max_middle_bwd_cpu(float *dx, const float *dout, const int64_t *at, int64_t A, int64_t B, int64_t C)
{
#pragma omp parallel for if (A * C >= THREADS_FROM) schedule(static)
    for (int64_t a = 0; a < A; a++)
        for (int64_t c = 0; c < C; c++)
            dx[(a * B + at[a * C + c]) * C + c] += dout[a * C + c];
}

/* ---- gathered rows ---------------------------------------------------------------------------------- */

static void check_ids(const int32_t *id, int64_t N, int64_t V)
{
    for (int64_t n = 0; n < N; n++)
        MT_CHECK(id[n] >= 0 && id[n] < V, "gather: id[%" PRId64 "] is %d, the table has %" PRId64 " rows", n, id[n], V);
}

void mt_gather_rows_fwd_cpu(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C)
{
    check_ids(id, N, V);
#pragma omp parallel for if (N * C >= THREADS_FROM) schedule(static)
    for (int64_t n = 0; n < N; n++)
        memcpy(out + n * C, table + id[n] * C, (size_t)C * sizeof *out);
}

/* Two samples may name the same row, so threads split the columns, not the samples. */
void mt_gather_rows_bwd_cpu(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C)
{
    check_ids(id, N, V);
#pragma omp parallel for if (N * C >= THREADS_FROM) schedule(static)
    for (int64_t begin = 0; begin < C; begin += COLUMNS)
        for (int64_t n = 0; n < N; n++)
            for (int64_t c = begin; c < mt_min(C, begin + COLUMNS); c++)
                dtable[id[n] * C + c] += dout[n * C + c];
}
