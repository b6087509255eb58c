/* linear.c -- a fully connected layer, out = x w + b, forward and backward: three matrix products and a sum of columns.
 * The products come from lab 01; the task is to choose the operands and which of them is transposed. */
#include "kernels/kernels.h"

#include <string.h>

enum {
    PARALLEL_FROM = 1 << 15, /* elements a pass must touch before waking the other threads (2 us) pays */
    COLUMNS = 256,           /* columns summed together: their sums, 2 KiB, stay in the L1 cache */
};

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I, int64_t O)
{
    /* LAB 02.1 BEGIN  out = x w + b.
     * Hint: copy b into every row of out, then let mt_matmul_cpu add x w to it; without b it overwrites. */
    if (b) {
#pragma omp parallel for if (N * O >= PARALLEL_FROM)
        for (int64_t n = 0; n < N; n++)
            memcpy(out + n * O, b, (size_t)O * sizeof *out);
    }
    mt_matmul_cpu(out, x, w, N, O, I, MT_NO_TRANS, MT_NO_TRANS, b ? MT_ACCUMULATE : MT_OVERWRITE);
    /* LAB 02.1 END */
}

void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O)
{
    /* LAB 02.2 BEGIN  Add the three gradients; dx, dw and db may be NULL, then skip them.
     * Hint: the shapes determine the products. Which two of dout, x and w, as stored or transposed, make [N,I], and
     * which make [I,O]? b is added to every row: so which numbers meet in db[o]? */
    if (dx)
        mt_matmul_cpu(dx, dout, w, N, I, O, MT_NO_TRANS, MT_TRANS, MT_ACCUMULATE);
    if (dw)
        mt_matmul_cpu(dw, x, dout, I, O, N, MT_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    if (db) {
        /* Threads split the columns: each sum is made by one thread, from the first row to the last. */
#pragma omp parallel for if (N * O >= PARALLEL_FROM)
        for (int64_t begin = 0; begin < O; begin += COLUMNS) {
            int64_t columns = mt_min(COLUMNS, O - begin);
            double sum[COLUMNS] = { 0 };
            for (int64_t n = 0; n < N; n++)
                for (int64_t o = 0; o < columns; o++)
                    sum[o] += dout[n * O + begin + o];
            for (int64_t o = 0; o < columns; o++)
                db[begin + o] += (float)sum[o];
        }
    }
    /* LAB 02.2 END */
}
