/* gelu.cuh -- GPT-2's GELU of one number, x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its slope. */
#pragma once

#include "cuda/cuda.h"

/* The argument of the tanh, and its derivative. */
static __device__ __forceinline__ float mt_gelu_inner(float x)
{
    return 0.79788456f * (x + 0.044715f * x * x * x); /* sqrt(2 / pi) */
}

static __device__ __forceinline__ float mt_gelu_inner_slope(float x)
{
    return 0.79788456f * (1 + 3 * 0.044715f * x * x);
}

static __device__ __forceinline__ float mt_gelu_tanh(float x)
{
    return 0.5f * x * (1 + tanhf(mt_gelu_inner(x)));
}

static __device__ __forceinline__ float mt_gelu_tanh_slope(float x)
{
    float t = tanhf(mt_gelu_inner(x));
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * mt_gelu_inner_slope(x);
}
