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
    /* TODO 02.1: out = x w + b.
     * Hint: copy b into every row of out, then let mt_matmul_cpu add x w to it; without b it overwrites. */
    MT_TODO("02.1"); /* delete this line when yours stands here */
}

void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O)
{
    /* TODO 02.2: Add the three gradients; dx, dw and db may be NULL, then skip them.
     * Hint: the shapes determine the products. Which two of dout, x and w, as stored or transposed, make [N,I], and
     * which make [I,O]? b is added to every row: so which numbers meet in db[o]? */
    MT_TODO("02.2"); /* delete this line when yours stands here */
}
