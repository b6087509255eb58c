/* heads.cuh -- what the attention kernels of lab 11 share: the part of a block, rows from memory into tiles in shared
 * memory, and the two products of a warp with a tile.
 *
 * A block of MT_HEAD_WARPS warps owns rows of one head, EACH of them per warp, and iterates over the rows of the other
 * operand in tiles of MT_HEAD_TILE = 32, so that each lane owns a row of the tile, or every 32nd column. Kernels are
 * compiled for heads of up to 32 * PARTS columns, PARTS = 1 .. 4; columns from D on are 0.
 *
 * Rows of a tile are MT_HEAD_PAD longer than COLS: 8 lanes that read 16 bytes of one column each then access all 32
 * banks. A read of one address by all lanes is one wavefront for 4 bytes. */
#pragma once

#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"
#include "fused/kernels_cuda.h"

enum {
    MT_HEAD_WARPS = 4,
    MT_HEAD_THREADS = MT_HEAD_WARPS * MT_WARP,
    MT_HEAD_TILE = MT_WARP,
    MT_HEAD_PAD = 4,
    MT_HEAD_PARTS = MT_HEAD_COLUMNS / MT_WARP, /* of 32 columns, in the widest head */
};

/* The part of a block: rows begin, begin + 1, ... of one head; where the head begins in each array. */
struct mt_head_part {
    int64_t begin, qkv, out, lse;
    int D;
    float scale; /* of the scores: 1 / sqrt(D) */
};

/* Blocks of `rows` rows each, those of a head one after the other. */
static __device__ __forceinline__ mt_head_part mt_head_part_of(int rows, int64_t T, int64_t C, int64_t H)
{
    int64_t blocks = (T + rows - 1) / rows, head = blockIdx.x / blocks;
    int64_t sample = head / H, column = head % H * (C / H);
    return { blockIdx.x % blocks * rows, sample * T * 3 * C + column, sample * T * C + column, head * T, (int)(C / H),
             1 / sqrtf((float)(C / H)) };
}

/* Rows first .. first+N-1 of an array whose rows begin `step` apart, by all threads of the block; 0 for rows from
 * `rows` on and columns from D on. The lanes of a warp read neighbours. */
template <int COLS, class T, int N, int WIDTH>
static __device__ void mt_head_load(T (&to)[N][WIDTH], const T *from, int64_t step, int64_t first, int64_t rows, int D)
{
    for (int row = threadIdx.y; row < N; row += MT_HEAD_WARPS)
        for (int c = threadIdx.x; c < COLS; c += MT_WARP)
            to[row][c] = first + row < rows && c < D ? from[(first + row) * step + c] : T(0.0f);
}

static __device__ __forceinline__ float4 mt_four(const float *x)
{
    return *reinterpret_cast<const float4 *>(x);
}

/* product[r] = row r of own . this lane's row of a tile. */
template <int EACH, int COLS>
static __device__ __forceinline__ void mt_head_products(float (&product)[EACH], const float (*own)[COLS],
                                                        const float (&row)[COLS + MT_HEAD_PAD])
{
#pragma unroll
    for (int r = 0; r < EACH; r++)
        product[r] = 0;
    for (int c = 0; c < COLS; c += 4) {
        float4 y = mt_four(row + c);
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            float4 x = mt_four(own[r] + c);
            product[r] += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        }
    }
}

/* sum[r] += the rows of the tile, row j times weight[r][j]; a lane has every 32nd column. */
template <int EACH, int PARTS, int WIDTH>
static __device__ __forceinline__ void mt_head_add(float (&sum)[EACH][PARTS], const float (*weight)[MT_HEAD_TILE],
                                                   const float (&tile)[MT_HEAD_TILE][WIDTH])
{
    for (int j = 0; j < MT_HEAD_TILE; j += 4) {
        float x[4][PARTS];
#pragma unroll
        for (int i = 0; i < 4 * PARTS; i++)
            x[i / PARTS][i % PARTS] = tile[j + i / PARTS][i % PARTS * MT_WARP + threadIdx.x];
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            float4 w = mt_four(weight[r] + j);
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                sum[r][part] += w.x * x[0][part] + w.y * x[1][part] + w.z * x[2][part] + w.w * x[3][part];
        }
    }
}

/* Index of the kernel for heads of C / H columns: the number of parts that they fill, minus 1. */
static inline int mt_head_kernel(int64_t C, int64_t H)
{
    MT_CHECK(H >= 1 && C % H == 0, "attention: %lld columns cannot be split between %lld heads", (long long)C,
             (long long)H);
    MT_CHECK(C / H <= MT_HEAD_COLUMNS, "attention: heads of %lld columns; on cuda they have %d at most",
             (long long)(C / H), MT_HEAD_COLUMNS);
    return (int)((C / H + MT_WARP - 1) / MT_WARP) - 1;
}

static inline unsigned mt_head_blocks(int rows, int64_t heads, int64_t T)
{
    return mt_blocks(heads * ((T + rows - 1) / rows), 1);
}
