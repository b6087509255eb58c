/* matmul_parts.h -- matrices, products and parts of them, as the kernels of lab 01 read them. */
#pragma once

#include "kernels/matmul.h"

MT_C_BEGIN

/* A matrix to read: element (i,j) is at[i * row + j * col]. Transposing is swapping row and col. */
typedef struct mt_matrix {
    const float *at;
    int64_t row, col;
} mt_matrix;

/* A product of any size: the whole, a block of it, a tile of it. */
typedef struct mt_product {
    float *c; /* [M,N], rows ldc apart */
    int64_t ldc, M, N, K;
    mt_matrix a, b; /* [M,K], [K,N] */
    mt_write write;
    mt_matrix ahead; /* rows of the next tile, at[k * row], which the micro-kernel prefetches */
    bool far;        /* B does not stay in L2 from one product to the next */
} mt_product;

/* mt_matrix_from -- the part below row i and right of column j. */
static inline mt_matrix mt_matrix_from(mt_matrix m, int64_t i, int64_t j)
{
    return (mt_matrix){ m.at + i * m.row + j * m.col, m.row, m.col };
}

/* mt_matrix_flip -- the transposed matrix. */
static inline mt_matrix mt_matrix_flip(mt_matrix m)
{
    return (mt_matrix){ m.at, m.col, m.row };
}

/* mt_product_of -- the whole product, checked; who: the kernel, for messages. */
static inline mt_product mt_product_of(const char *who, float *c, const float *a, const float *b,
                                       const mt_matmul_dims *d)
{
    mt_matmul_dims_check(who, d);
    mt_matrix A = { a, d->lda, 1 }, B = { b, d->ldb, 1 };
    mt_matrix op_a = d->trans_a ? mt_matrix_flip(A) : A, op_b = d->trans_b ? mt_matrix_flip(B) : B;
    return (mt_product){ c, d->ldc, d->M, d->N, d->K, op_a, op_b, d->write, op_b, false };
}

MT_C_END
