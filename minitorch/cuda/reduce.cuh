/* reduce.cuh -- one value from all lanes of a warp, or all threads of a block; every thread gets it.
 *
 * All threads must call (all 32 lanes of a warp; all threads of a block of a multiple of 32). The order of additions is
 * fixed by the lane numbers, so the same inputs give the same bits. */
#pragma once

#include "cuda/launch.cuh"

struct mt_plus {
    template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

/* The larger; a NaN counts as larger than any number, so that it is not lost. */
struct mt_larger {
    template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    {
        return a > b || a != a ? a : b;
    }
};

/* Each step halves the distance: after 16, 8, 4, 2, 1 every lane has combined all 32. */
template <class Op, class T> static __device__ __forceinline__ T mt_warp_reduce(T value, Op op)
{
    for (int distance = MT_WARP / 2; distance > 0; distance /= 2)
        value = op(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

/* Warps store their results in shared memory, one slot each; then every warp combines the slots. `nothing` is the
 * neutral element (0 for a sum), for slots without a warp. The second barrier allows another call right after. */
template <class Op, class T> static __device__ __forceinline__ T mt_block_reduce(T value, Op op, T nothing)
{
    __shared__ T slot[MT_WARP];
    int lane = threadIdx.x % MT_WARP, warp = threadIdx.x / MT_WARP;
    value = mt_warp_reduce(value, op);
    if (lane == 0)
        slot[warp] = value;
    __syncthreads();
    value = lane < (int)blockDim.x / MT_WARP ? slot[lane] : nothing;
    __syncthreads();
    return mt_warp_reduce(value, op);
}

template <class T> static __device__ __forceinline__ T mt_warp_sum(T value)
{
    return mt_warp_reduce(value, mt_plus());
}

template <class T> static __device__ __forceinline__ T mt_block_sum(T value)
{
    return mt_block_reduce(value, mt_plus(), T(0));
}

static __device__ __forceinline__ float mt_warp_max(float value)
{
    return mt_warp_reduce(value, mt_larger());
}

static __device__ __forceinline__ float mt_block_max(float value)
{
    return mt_block_reduce(value, mt_larger(), -INFINITY);
}
