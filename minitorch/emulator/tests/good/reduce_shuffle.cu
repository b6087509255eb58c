// Warp shuffles, one shared slot per warp, an atomic per block.
#include "check.h"

__inline__ __device__ float warp_sum(float v)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}

__global__ void reduce(float *out, const float *__restrict__ in, int n)
{
    __shared__ float part[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += __ldg(in + i);
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
        v = warp_sum(v);
        if (threadIdx.x == 0)
            atomicAdd(out, v);
    }
}

int main()
{
    const int n = 5000;
    std::vector<float> x = ramp(n);
    float *in = upload(x), *out = zeros<float>(1), want = 0;
    reduce<<<4, 192>>>(out, in, n);
    for (float v : x)
        want += v;
    EXPECT(take(out, 1)[0] == want);
    CUDA(cudaFree(in));
}
