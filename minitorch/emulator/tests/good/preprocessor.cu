// Launches from macros, __CUDA_ARCH__, unrolled loops, a branch that is compiled out.
#include "check.h"

#define BLOCK 64
#define LAUNCH(kernel, n, ...)                                     \
    do {                                                           \
        kernel<<<((n) + BLOCK - 1) / BLOCK, BLOCK>>>(__VA_ARGS__); \
        CUDA(cudaGetLastError());                                  \
    } while (0)

#if 0
__global__ void never() { tex2D<float>(texture, 0, 0); }
#endif

__host__ __device__ inline float half_of(float x)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(x, 0.5f);
#else
    return x / 2.0f;
#endif
}

__global__ void halve(float *x, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
#pragma unroll 2
    for (int k = 0; k < 2; k++)
        if (i < n)
            x[i] = half_of(x[i]);
}

int main()
{
    std::vector<float> x = ramp(100);
    float *dx = upload(x);
    LAUNCH(halve, 100, dx, 100);
    std::vector<float> got = take(dx, 100);
    for (int i = 0; i < 100; i++)
        EXPECT(got[i] == half_of(half_of(x[i])));
}
