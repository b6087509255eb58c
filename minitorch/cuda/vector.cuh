/* vector.cuh -- four floats in one access of 16 bytes, and what to do where there are fewer.
 *
 * A float4 must lie at a multiple of 16 bytes: ask mt_aligned4 for the pointer (on the host, before the launch, or in the
 * kernel, where every thread gets the same answer), and take single floats when it says no. */
#ifndef MT_CUDA_VECTOR_CUH
#define MT_CUDA_VECTOR_CUH

#include "cuda/cuda.h"

/* mt_aligned4 -- whether p and all rows of `stride` floats behind it may be read as float4. */
static __host__ __device__ __forceinline__ bool mt_aligned4(const float *p, int64_t stride = 4)
{
    return (uintptr_t)p % sizeof(float4) == 0 && stride % 4 == 0;
}

/* mt_load4 -- x[i] .. x[i+3]; beyond n there are zeros. x is aligned, i a multiple of 4. */
static __device__ __forceinline__ float4 mt_load4(const float *x, int64_t i, int64_t n)
{
    if (i + 4 <= n)
        return *reinterpret_cast<const float4 *>(x + i);
    return make_float4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, 0);
}

/* mt_store4 -- out[i] .. out[i+3] = v; what lies beyond n is not touched. out is aligned, i a multiple of 4. */
static __device__ __forceinline__ void mt_store4(float *out, int64_t i, int64_t n, float4 v)
{
    if (i + 4 <= n) {
        *reinterpret_cast<float4 *>(out + i) = v;
        return;
    }
    if (i < n)
        out[i] = v.x;
    if (i + 1 < n)
        out[i + 1] = v.y;
    if (i + 2 < n)
        out[i + 2] = v.z;
}

#endif
