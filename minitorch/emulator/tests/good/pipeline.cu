// Double buffering with asynchronous copies.
#include "check.h"
#include <cuda_pipeline.h>

__global__ void stages(float *out, const float *in, int steps)
{
    __shared__ __align__(16) float buffer[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][t * 4], in + t * 4, 16);
    __pipeline_commit();
    for (int s = 0; s < steps; s++) {
        if (s + 1 < steps)
            __pipeline_memcpy_async(&buffer[(s + 1) & 1][t * 4], in + (s + 1) * 128 + t * 4, 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = t; k < 128; k += 32)
            out[s * 128 + k] = 2.0f * buffer[s & 1][127 - k];
        __syncthreads();
    }
}

int main()
{
    const int steps = 5, n = steps * 128;
    std::vector<float> x = ramp(n, 61);
    float *in = upload(x), *out = zeros<float>(n);
    stages<<<1, 32>>>(out, in, steps);
    std::vector<float> got = take(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == 2.0f * x[i / 128 * 128 + 127 - i % 128]);
    CUDA(cudaFree(in));
}
