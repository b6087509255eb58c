/* transpose.cu -- out[c,n] = x[n,c], naive and with tiles.
 *
 * Threads and data: the naive kernel's thread t reads element t of x. Its warp reads 32 neighbours, 4 sectors, and
 * writes 32 elements that are N floats apart: 32 sectors, of which it uses an eighth. In the tiled kernel a block of 32
 * x 8 threads reads a tile of 32 x 32 by rows into shared memory, waits, and writes it by columns: both ways a warp
 * touches 32 neighbours in memory. Only the read of shared memory has a stride, and there the bank matters:
 *
 *     tile[32][32]  column c lies in bank c, all 32 of it: 32 wavefronts        tile[32][33]  element (r,c) in bank
 *                                                                              (r + c) % 32: 1 wavefront
 *
 * Bytes and FLOPs: 8NC B at best, naive 36NC B; none. */
#include "cuda/launch.cuh"
#include "cuda/kernels_cuda.h"

/* ---- naive ------------------------------------------------------------------------------------- */

static __global__ void naive(float *out, const float *x, int64_t N, int64_t C)
{
    /* TODO 06.5: Move one element of x to its place.
     * Hint: element i of x is in row i / C and column i % C. */
    MT_TODO("06.5"); /* delete this line when yours stands here */
}

extern "C" void mt_transpose_naive_cuda(float *out, const float *x, int64_t N, int64_t C)
{
    /* TODO 06.5: Launch naive with a thread for each element. */
    MT_TODO("06.5"); /* delete this line when yours stands here */
}

/* ---- tiled ------------------------------------------------------------------------------------- */

enum {
    TILE = 32, /* rows and columns: a warp's lanes along one of them */
    ROWS = 8,  /* that a block's threads move at a time */
};

static __global__ void tiled(float *out, const float *x, int64_t N, int64_t C)
{
    int64_t tiles = (C + TILE - 1) / TILE; /* in a row of tiles */
    int64_t top = blockIdx.x / tiles * TILE, left = blockIdx.x % tiles * TILE;
    /* TODO 06.6: Read x[top.., left..] into a tile of shared memory by rows, wait, write it to out by rows of
     * out.
     * Hint: threadIdx.x runs along a row of x for the reads and along a row of out for the writes; threadIdx.y takes
     * every ROWS-th row. Leave out rows and columns beyond N and C in both. One additional column puts the elements of
     * a column into different banks. Every thread must reach __syncthreads(). */
    MT_TODO("06.6"); /* delete this line when yours stands here */
}

extern "C" void mt_transpose_tiled_cuda(float *out, const float *x, int64_t N, int64_t C)
{
    /* TODO 06.6: Launch tiled with a block of dim3(TILE, ROWS) threads for each tile.
     * Hint: x has mt_blocks(C, TILE) tiles in a row and mt_blocks(N, TILE) such rows. No element, no launch. */
    MT_TODO("06.6"); /* delete this line when yours stands here */
}

extern "C" const mt_transpose_rung mt_transpose_ladder_cuda[] = {
    { "naive", "06.5", mt_transpose_naive_cuda },
    { "tiled", "06.6", mt_transpose_tiled_cuda },
    { NULL, NULL, NULL },
};
