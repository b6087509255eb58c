// The last block to finish adds up what the others wrote: fence, counter, volatile reads.
#include "check.h"

__device__ unsigned finished;

__global__ void sum(float *out, float *part, const float *in, int n)
{
    __shared__ float warp[4];
    __shared__ bool last;
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    for (int bits = 16; bits > 0; bits /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, bits);
    if (threadIdx.x % 32 == 0)
        warp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        part[blockIdx.x] = warp[0] + warp[1] + warp[2] + warp[3];
        __threadfence();
        last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            all += ((volatile float *)part)[b];
        out[0] = all;
        finished = 0;
    }
}

int main()
{
    const int n = 4000;
    std::vector<float> x = ramp(n);
    float *in = upload(x), *part = zeros<float>(7), *out = zeros<float>(1), want = 0;
    for (int round = 0; round < 2; round++)
        sum<<<7, 128>>>(out, part, in, n);
    for (float v : x)
        want += v;
    EXPECT(take(out, 1)[0] == want);
    CUDA(cudaFree(in));
    CUDA(cudaFree(part));
}
