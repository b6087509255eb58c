/* launch.cuh -- the number of blocks for n elements, and the index of a thread. */
#pragma once

#include "cuda/cuda.h"

enum {
    MT_WARP = 32,
    MT_THREADS = 256, /* of a block, unless a kernel needs another number */
};

/* mt_blocks -- blocks that cover n elements with `each` elements per block: n / each rounded up. n >= 1: an empty grid
 * is an error in CUDA, so a launcher returns before it.   Aborts: more than a grid can have, 2^31 - 1. */
static inline unsigned mt_blocks(int64_t n, int64_t each)
{
    int64_t blocks = (n + each - 1) / each;
    MT_CHECK(blocks >= 1 && blocks <= INT32_MAX, "a grid of %lld blocks (%lld elements, %lld a block)%s",
             (long long)blocks, (long long)n, (long long)each,
             n ? "" : ": return before the launch if there are none, else round up");
    return (unsigned)blocks;
}

/* mt_row_threads -- threads of a block that processes one row of C elements: whole warps, about four elements for each
 * thread. */
static inline unsigned mt_row_threads(int64_t C)
{
    return C >= 1024 ? 256 : C >= 256 ? 64 : MT_WARP;
}

/* mt_thread -- this thread's index in the grid; in 64 bits, because from 2^32 elements on it overflows 32 bits. */
static __device__ __forceinline__ int64_t mt_thread(void)
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* mt_grid_threads -- threads in the grid: the step of a grid-stride loop. */
static __device__ __forceinline__ int64_t mt_grid_threads(void)
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* MT_LAUNCH -- kernel(...) of so many blocks of so many threads, in mt_cuda_stream().
 * MT_LAUNCH_EACH -- blocks of MT_THREADS threads, each for so many of n elements; none if n is 0. */
#define MT_LAUNCH(name, kernel, blocks, threads, ...)                  \
    do {                                                               \
        kernel<<<blocks, threads, 0, mt_cuda_stream()>>>(__VA_ARGS__); \
        MT_LAUNCHED(name);                                             \
    } while (0)
#define MT_LAUNCH_EACH(name, kernel, n, each, ...)                                \
    do {                                                                          \
        if ((n) > 0)                                                              \
            MT_LAUNCH(name, kernel, mt_blocks(n, each), MT_THREADS, __VA_ARGS__); \
    } while (0)
