/* vector.cuh -- four floats in one access of 16 bytes where that is allowed, one by one where it is not.
 *
 * A float4 must be aligned to 16 bytes, and nothing beyond the array may be accessed: these functions test both. The
 * result of the first test is the same in all threads of a launch, so it causes no divergence. */
#pragma once

#include "cuda/cuda.h"

/* mt_aligned4 -- whether p, and p + k * stride for every k, may be read as float4. */
static __host__ __device__ __forceinline__ bool mt_aligned4(const float *p, int64_t stride = 4)
{
    return (uintptr_t)p % sizeof(float4) == 0 && stride % 4 == 0;
}

/* mt_load4 -- x[i] .. x[i+3]; elements from n on are 0. i is a multiple of 4, x any pointer. */
static __device__ __forceinline__ float4 mt_load4(const float *x, int64_t i, int64_t n)
{
    if (i + 4 <= n && mt_aligned4(x))
        return *reinterpret_cast<const float4 *>(x + i);
    return make_float4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, i + 3 < n ? x[i + 3] : 0);
}

/* mt_store4 -- out[i] .. out[i+3] = v; elements from n on are not written. i is a multiple of 4, out any pointer. */
static __device__ __forceinline__ void mt_store4(float *out, int64_t i, int64_t n, float4 v)
{
    if (i + 4 <= n && mt_aligned4(out)) {
        *reinterpret_cast<float4 *>(out + i) = v;
        return;
    }
    if (i < n)
        out[i] = v.x;
    if (i + 1 < n)
        out[i + 1] = v.y;
    if (i + 2 < n)
        out[i + 2] = v.z;
    if (i + 3 < n)
        out[i + 3] = v.w;
}
