/* cublas.cu -- the product with cuBLAS, as in production; the kernels of this lab are compared with it.
 *
 * cuBLAS stores matrices by columns: it reads a matrix stored by rows as its transpose. So C = A B becomes C^T = B^T
 * A^T: the operands change places, M and N change places, leading dimensions and transposes stay with their
 * operands. */
#include "cuda/cublas.h"
#include "cuda/matmul_cuda.h"

extern "C" void mt_matmul_cublas(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("cublas matmul", d);
    if (d->M * d->N == 0)
        return;
    const float one = 1, beta = d->write == MT_ACCUMULATE ? 1 : 0;
    int64_t lda = mt_max(1, d->lda),
            ldb = mt_max(1, d->ldb); /* cuBLAS refuses 0, the leading dimension of an empty row */
    /* TODO 07.8: C^T = B^T A^T by cuBLAS.
     * Hint: the first operand is b with its transpose and leading dimension, the second is a; the result has N rows and
     * M columns. Pass each operand's transpose to cuBLAS unchanged, because cuBLAS reads all three matrices as
     * transposes. */
    MT_TODO("07.8"); /* delete this line when yours stands here */
}
