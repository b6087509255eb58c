/* bias_gelu.c -- the bias of a linear layer and GPT-2's GELU of the sum in one pass, forward and backward. Lab 11.
 *
 * In two ops the product is written with the bias in it, GELU reads it, and backward reads the gradient of the sum once
 * more to add up its columns. Here the product has no bias; forward and backward both add it to what they read. Forward
 * shares rows among threads. Backward shares columns: each thread has all rows of some columns, so that a column's sum,
 * in double, is made by one thread from the first row to the last, and no number is read twice. The fewer threads, the
 * more columns has each, and the longer are the parts of rows that it reads. */
#include "fused/kernels_fused.h"
#include "kernels/vecmath.h"

#include <omp.h>

enum {
    THREADS_FROM = 8192, /* elements from which threads pay off */
    COLUMNS = 4096,      /* at most, of a thread in backward at a time: their sums take 32 KiB */
    VECTORS = 64,        /* a thread's share is a multiple: its split into vectors is the same for any number */
};

static const float SQRT_2_OVER_PI = 0.79788456f; /* sqrt(2 / pi) */
static const float CUBIC = 0.044715f;

void mt_bias_gelu_fwd_cpu(float *out, const float *x, const float *bias, int64_t N, int64_t C)
{
#pragma omp parallel for if (N * C >= THREADS_FROM)
    for (int64_t n = 0; n < N; n++) {
        const float *from = x + n * C;
        float *to = out + n * C;
        /* LAB 11.5 BEGIN  One row: add the bias, then GPT-2's GELU of the sum.
         * Hint: z = from[c] + bias[c] is a variable of the loop and no array. (1 + tanh u) / 2 is the sigmoid of 2u:
         * one mt_expf (kernels/vecmath.h) instead of lab 02.5's tanh, which is more work. */
        for (int64_t c = 0; c < C; c++) {
            float z = from[c] + bias[c], u = SQRT_2_OVER_PI * (z + CUBIC * z * z * z);
            to[c] = z / (1 + mt_expf(-2 * u));
        }
        /* LAB 11.5 END */
    }
}

/* All rows of `columns` columns, of arrays with rows of C numbers; dx and dbias may be NULL. */
static void columns_backward(float *dx, float *dbias, const float *dout, const float *x, const float *bias, int64_t N,
                             int64_t C, int64_t columns)
{
    double sum[COLUMNS] = { 0 };
    for (int64_t n = 0; n < N; n++) {
        const float *g = dout + n * C, *from = x + n * C;
        float *to = dx ? dx + n * C : NULL;
        /* LAB 11.5 BEGIN  The gradient d of this row's sums x + bias, added to dx and to the sum of each column.
         * Hint: d = g[c] times lab 02.5's slope at from[c] + bias[c]. One loop adds to both; to may be NULL. */
        for (int64_t c = 0; c < columns; c++) {
            float z = from[c] + bias[c];
            float s = 1 / (1 + mt_expf(-2 * SQRT_2_OVER_PI * (z + CUBIC * z * z * z)));
            float du = SQRT_2_OVER_PI * (1 + 3 * CUBIC * z * z);
            float d = g[c] * s * (1 + 2 * z * (1 - s) * du);
            if (to)
                to[c] += d;
            sum[c] += d;
        }
        /* LAB 11.5 END */
    }
    for (int64_t c = 0; c < columns && dbias; c++)
        dbias[c] += (float)sum[c];
}

void mt_bias_gelu_bwd_cpu(float *dx, float *dbias, const float *dout, const float *x, const float *bias, int64_t N,
                          int64_t C)
{
    int64_t threads = N * C >= THREADS_FROM ? omp_get_max_threads() : 1;
    int64_t share = mt_min(mt_max(1, mt_ceil_div(C, threads * VECTORS)) * VECTORS, COLUMNS);
#pragma omp parallel for if (threads > 1)
    for (int64_t begin = 0; begin < C; begin += share)
        columns_backward(dx ? dx + begin : NULL, dbias ? dbias + begin : NULL, dout + begin, x + begin, bias + begin, N,
                         C, mt_min(share, C - begin));
}
