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
    /* LAB 07.8 BEGIN  C^T = B^T A^T, in cuBLAS's words.
     * Hint: the first operand is b with its transpose and leading dimension, the second is a; the result has N rows and M
     * columns. A transpose that we ask for is one that cuBLAS is asked for: both sides read everything turned. */
    cublasOperation_t op_a = d->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = d->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    MT_CUBLAS(cublasSgemm_64(mt_cublas(), op_b, op_a, d->N, d->M, d->K, &one, b, ldb, a, lda, &beta, c, d->ldc));
    /* LAB 07.8 END */
}
