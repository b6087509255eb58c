/* matmul.h -- the matrix product on the CPU: one signature, one ladder of increasingly fast kernels.
 *
 * C = A B  or  C += A B,  with A [M,K], B [K,N], C [M,N], all f32 and row-major.
 * Every rung takes the same arguments, so checks and benchmarks walk the table. Two threads may call a kernel at once
 * on different arrays: a static variable that two calls share is wrong unless it is locked or thread-local.
 * Units: solutions/01-matmul/loops.c (01.1-3) and matmul.c (01.4-6).   Lab 01 */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef enum mt_trans { MT_NO_TRANS, MT_TRANS } mt_trans;       /* as stored, or read transposed */
typedef enum mt_write { MT_OVERWRITE, MT_ACCUMULATE } mt_write; /* C = A B, or C += A B */

/* The dimensions of a product. A leading dimension is the distance, in elements, from the start of one stored row to
 * that of the next. */
typedef struct mt_matmul_dims {
    int64_t M, N, K; /* each >= 0; K = 0 makes the product zero */
    int64_t lda;     /* A is stored [M,K] with lda >= K, or, transposed, [K,M] with lda >= M */
    int64_t ldb;     /* B is stored [K,N] with ldb >= N, or, transposed, [N,K] with ldb >= K */
    int64_t ldc;     /* C is stored [M,N] with ldc >= N */
    mt_trans trans_a, trans_b;
    mt_write write; /* MT_OVERWRITE never reads C, not even when it holds NaN */
} mt_matmul_dims;

/* The dimensions of matrices without gaps between their rows. */
static inline mt_matmul_dims mt_dense_dims(int64_t M, int64_t N, int64_t K, mt_trans trans_a, mt_trans trans_b,
                                           mt_write write)
{
    mt_matmul_dims dims = { M, N, K, trans_a ? M : K, trans_b ? K : N, N, trans_a, trans_b, write };
    return dims;
}

/* Element (i,k) of A is a[i * lda + k], or a[k * lda + i] transposed; element (k,j) of B is b[k * ldb + j], or
 * b[j * ldb + k] transposed. Pointers need no alignment beyond a float's. C must not overlap A or B. Nothing outside
 * the M x N elements of C is written (not the gap between N and ldc), nothing outside A and B is read.
 * Moves: at least 4(MK + KN + MN) B for 2MNK FLOPs.   Aborts: a negative size or a leading dimension too small.
 * Source: Goto and van de Geijn 2008, ACM TOMS 34(3), "Anatomy of High-Performance Matrix Multiplication".   Lab 01 */
typedef void mt_matmul_fn(float *c, const float *a, const float *b, const mt_matmul_dims *dims);

mt_matmul_fn mt_matmul_naive_cpu;     /* Lab 01.1  three loops, i j k: a dot product for each element of C */
mt_matmul_fn mt_matmul_reordered_cpu; /* Lab 01.2  i k j: the inner loop runs along rows, the compiler vectorises it */
mt_matmul_fn mt_matmul_tiled_cpu;     /* Lab 01.3  blocks that stay in cache are used many times before they leave */
mt_matmul_fn mt_matmul_packed_cpu;    /* Lab 01.4-5  packed panels and a register micro-kernel; one thread */
mt_matmul_fn mt_matmul_parallel_cpu;  /* Lab 01.6  the packed kernel on every core; same bits for any thread count */

/* mt_matmul_cpu -- c [M,N] = op(a) op(b), all rows packed tightly (leading dimensions are the stored row lengths),
 * through the matmul of the kernel table in use; defined in tables.c. */
void mt_matmul_cpu(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                   mt_trans trans_b, mt_write write);

/* mt_matmul_dims_check -- abort with a message when the dimensions are impossible. Every rung calls it first. */
void mt_matmul_dims_check(const char *who, const mt_matmul_dims *dims);

MT_C_END
