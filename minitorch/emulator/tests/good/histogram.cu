// Shared bins per block, merged with atomics.
#include "check.h"

__global__ void histogram(unsigned *bins, const unsigned char *data, int n)
{
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b])
            atomicAdd(&bins[b], local[b]);
}

int main()
{
    const int n = 5000;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> want(256);
    for (int i = 0; i < n; i++)
        want[data[i] = (unsigned char)(i * i % 251)]++;
    unsigned char *in = upload(data);
    unsigned *bins = zeros<unsigned>(256);
    histogram<<<4, 128>>>(bins, in, n);
    EXPECT(take(bins, 256) == want);
    CUDA(cudaFree(in));
}
