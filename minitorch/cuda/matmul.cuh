/* matmul.cuh -- shared by all steps of the CUDA ladder: operands of any strides, results set or added to. */
#pragma once

#include "cuda/launch.cuh"
#include "cuda/vector.cuh"
#include "cuda/matmul_cuda.h"

/* A matrix to read: element (i,j) is at[i * down + j * along]; one of the two steps is 1. Transposing swaps them. */
struct mt_operand {
    const float *at;
    int64_t rows, cols, down, along;
};

/* A product: C [M,N], rows ldc apart, from A [M,K] and B [K,N]. */
struct mt_product {
    float *c;
    int64_t ldc, M, N, K;
    mt_operand a, b;
    bool add; /* += */
};

static inline mt_product mt_product_of(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_operand oa = { a, d->M, d->K, d->trans_a ? 1 : d->lda, d->trans_a ? d->lda : 1 };
    mt_operand ob = { b, d->K, d->N, d->trans_b ? 1 : d->ldb, d->trans_b ? d->ldb : 1 };
    return { c, d->ldc, d->M, d->N, d->K, oa, ob, d->write == MT_ACCUMULATE };
}

/* mt_element -- element (i,j), and 0 beyond the edges, which adds nothing to a sum. */
static __device__ __forceinline__ float mt_element(const mt_operand &m, int64_t i, int64_t j)
{
    return i < m.rows && j < m.cols ? m.at[i * m.down + j * m.along] : 0;
}

/* mt_result_at -- set, or add to, element (i,j) of C; nothing beyond its edges. */
static __device__ __forceinline__ void mt_result_at(const mt_product &p, int64_t i, int64_t j, float value)
{
    if (i < p.M && j < p.N)
        p.c[i * p.ldc + j] = p.add ? p.c[i * p.ldc + j] + value : value;
}

/* mt_four_results_at -- the same for elements (i,j) .. (i,j+3), in one access where C allows it. */
static __device__ __forceinline__ void mt_four_results_at(const mt_product &p, int64_t i, int64_t j, const float *v)
{
    if (i < p.M && j + 4 <= p.N && mt_aligned4(&p.c[i * p.ldc + j])) {
        float4 *c = reinterpret_cast<float4 *>(&p.c[i * p.ldc + j]);
        float4 old = p.add ? *c : make_float4(0, 0, 0, 0);
        *c = make_float4(old.x + v[0], old.y + v[1], old.z + v[2], old.w + v[3]);
        return;
    }
    for (int q = 0; q < 4; q++)
        mt_result_at(p, i, j + q, v[q]);
}

/* mt_transposed -- the transpose: B [K,N] as [N,K], for code that traverses both operands along their second dimension.
 * */
static __device__ __forceinline__ mt_operand mt_transposed(const mt_operand &m)
{
    return { m.at, m.cols, m.rows, m.along, m.down };
}

/* Tiles of rows x cols over C: how many there are, and where the block's own begins. The grid has one dimension,
 * because the others are limited to 65535 blocks. */
static inline unsigned mt_tiles(const mt_product &p, int64_t rows, int64_t cols)
{
    return mt_blocks((p.M + rows - 1) / rows * ((p.N + cols - 1) / cols), 1);
}

static __device__ __forceinline__ void mt_tile_begin(const mt_product &p, int rows, int cols, int64_t *i, int64_t *j)
{
    int64_t across = (p.N + cols - 1) / cols;
    *i = blockIdx.x / across * rows;
    *j = blockIdx.x % across * cols;
}
