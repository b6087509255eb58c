/* reduce.cu -- the sum of all elements, three ways, and the sum and the maximum of each row.
 *
 * Threads and data, sums: at most MT_SUM_BLOCKS blocks of 256 threads; each thread adds every (threads of the grid)-th
 * element, so neighbouring lanes read neighbours. Each block reduces its 256 sums to one in 8 steps, and a second
 * launch with one block adds the sums of the blocks. The three ways differ in these steps only:
 *     interleaved   slot 2s t += slot 2s t + s, s = 1, 2, 4 ...: the lanes access words 2s apart, up to 32 in one bank
 *     sequential    slot t += slot t + s, s = 128, 64, 32 ...: neighbouring lanes in neighbouring banks
 *     shuffle       lanes read each other's registers; shared memory holds 8 numbers, one of each warp
 * Threads and data, rows: a warp for each row, its lanes along the row. With a thread for each row, a warp would read
 * 32 rows at a time and use 4 bytes of every sector.
 * Bytes and FLOPs: reads 4 B for each addition. */
#include "cuda/launch.cuh"
#include "cuda/kernels_cuda.h"

#include <inttypes.h>
#include <math.h>

enum { WARPS = MT_THREADS / MT_WARP };

/* The sum of the values of all MT_THREADS threads of a block; only the result of thread 0 is used. */
typedef float block_sum_fn(float value);
typedef float pair_fn(float a, float b);

static __device__ float plus(float a, float b)
{
    return a + b;
}

/* The larger; a NaN is larger than anything. */
static __device__ float larger(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}

/* ---- three ways to add the values of a block ----------------------------------------------------------------- */

static __device__ float interleaved(float value)
{
    __shared__ float slot[MT_THREADS];
    int t = threadIdx.x;
    /* TODO 06.7: A tree in shared memory, neighbours first.
     * Hint: every thread writes its value to its own slot; then for s = 1, 2, 4 ... thread t adds slot 2s t + s to slot
     * 2s t while these slots exist. All threads must pass __syncthreads() before one reads what another wrote. */
    MT_TODO("06.7"); /* delete this line when yours stands here */
    return slot[0];
}

static __device__ float sequential(float value)
{
    __shared__ float slot[MT_THREADS];
    int t = threadIdx.x;
    /* TODO 06.8: The same tree with the halves added first: thread t adds slot t + s to slot t, s = 128, 64 ...
     * Hint: as many additions as before, but of other pairs; now the active lanes are neighbours. */
    MT_TODO("06.8"); /* delete this line when yours stands here */
    return slot[0];
}

template <pair_fn *OP> static __device__ float warp_combine(float value)
{
    /* TODO 06.9: Combine the values of the 32 lanes of a warp by OP; every lane gets the result.
     * Hint: __shfl_xor_sync(0xffffffff, value, d) is the value of lane (mine ^ d). All 32 lanes must call it. */
    MT_TODO("06.9"); /* delete this line when yours stands here */
    return value;
}

static __device__ float shuffle(float value)
{
    __shared__ float slot[WARPS];
    int lane = threadIdx.x % MT_WARP, warp = threadIdx.x / MT_WARP;
    /* TODO 06.9: Combine within warps, then the results of the warps.
     * Hint: lane 0 of each of the WARPS warps writes its result to shared memory. After a barrier the first warp reads
     * them (0 in its other lanes) and combines them. */
    MT_TODO("06.9"); /* delete this line when yours stands here */
    return value;
}

/* ---- the sum of all elements -------------------------------------------------------------------------- */

template <block_sum_fn *BLOCK_SUM> static __global__ void sum_blocks(float *partial, const float *x, int64_t n)
{
    float value = 0;
    /* TODO 06.7: Add this thread's elements of x to value.
     * Hint: start at mt_thread() and advance by mt_grid_threads(): the grid may be smaller than n. */
    MT_TODO("06.7"); /* delete this line when yours stands here */
    value = BLOCK_SUM(value);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = value;
}

template <block_sum_fn *BLOCK_SUM> static void sum(float *out, float *partial, const float *x, int64_t n)
{
    /* TODO 06.7: Sum x into partial by at most MT_SUM_BLOCKS blocks, then partial into out by one.
     * Hint: sum_blocks<BLOCK_SUM> does both. Launches of one stream run one after the other: the second reads what the
     * first wrote. Without elements there is no first launch; the second still writes the sum, 0. */
    MT_TODO("06.7"); /* delete this line when yours stands here */
}

extern "C" void mt_sum_interleaved_cuda(float *out, float *partial, const float *x, int64_t n)
{
    sum<interleaved>(out, partial, x, n);
}

extern "C" void mt_sum_sequential_cuda(float *out, float *partial, const float *x, int64_t n)
{
    sum<sequential>(out, partial, x, n);
}

extern "C" void mt_sum_shuffle_cuda(float *out, float *partial, const float *x, int64_t n)
{
    sum<shuffle>(out, partial, x, n);
}

extern "C" const mt_sum_rung mt_sum_ladder_cuda[] = {
    { "interleaved", "06.7", mt_sum_interleaved_cuda },
    { "sequential", "06.8", mt_sum_sequential_cuda },
    { "shuffle", "06.9", mt_sum_shuffle_cuda },
    { NULL, NULL, NULL },
};

/* ---- rows -------------------------------------------------------------------------------------------- */

template <pair_fn *OP>
static __global__ void combine_rows(float *out, const float *x, int64_t N, int64_t C, float nothing)
{
    /* TODO 06.10: Combine row n = (number of this warp in the grid) by OP.
     * Hint: lanes take every 32nd element of the row, beginning with `nothing`, then warp_combine. One lane writes. All
     * lanes of a warp have the same row, so all of them return if there is none. */
    MT_TODO("06.10"); /* delete this line when yours stands here */
}

extern "C" void mt_row_sum_cuda(float *out, const float *x, int64_t N, int64_t C)
{
    if (N == 0)
        return;
    combine_rows<plus><<<mt_blocks(N, WARPS), MT_THREADS, 0, mt_cuda_stream()>>>(out, x, N, C, 0);
    MT_LAUNCHED("row_sum");
}

extern "C" void mt_row_max_cuda(float *out, const float *x, int64_t N, int64_t C)
{
    MT_CHECK(N == 0 || C >= 1, "row_max: %" PRId64 " rows of C = %" PRId64 " columns; C must be at least 1", N, C);
    if (N == 0)
        return;
    combine_rows<larger><<<mt_blocks(N, WARPS), MT_THREADS, 0, mt_cuda_stream()>>>(out, x, N, C, -INFINITY);
    MT_LAUNCHED("row_max");
}
