/* cublas.cu -- the product through cuBLAS, as one would do it in production: the bar that the ladder is held against.
 *
 * cuBLAS thinks in columns: what we store row after row is to it the transpose. So C = A B reads C^T = B^T A^T there: the
 * operands swap places, M and N swap, leading dimensions and transposes stay as they are. */
#include "cuda/cublas.h"
#include "ops/matmul_cuda.h"

extern "C" void mt_matmul_cublas(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("cublas matmul", d);
    if (d->M * d->N == 0)
        return;
    const float one = 1, beta = d->write == MT_ACCUMULATE ? 1 : 0;
    int64_t lda = mt_max(1, d->lda), ldb = mt_max(1, d->ldb); /* cuBLAS refuses 0, which an empty row has */
    /* TODO 07.8: C^T = B^T A^T, in cuBLAS's words.
     * Hint: the first operand is b with its transpose and leading dimension, the second is a; the result has N rows and M
     * columns. A transpose that we ask for is one that cuBLAS is asked for: both sides read everything turned. */
    MT_TODO("07.8");
}
