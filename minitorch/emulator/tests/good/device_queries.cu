// Queries of the device before a launch; opt-in to more shared memory.
#include "check.h"

__global__ void reverse(int *out, const int *in, int n)
{
    extern __shared__ int values[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        values[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = values[n - 1 - i];
}

int main()
{
    int count = 0, device = -1, blocks = 0, least = 0, best = 0, optin = 0;
    cudaDeviceProp properties;
    CUDA(cudaGetDeviceCount(&count));
    CUDA(cudaSetDevice(0));
    CUDA(cudaGetDevice(&device));
    CUDA(cudaGetDeviceProperties(&properties, 0));
    CUDA(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(count >= 1 && device == 0 && properties.warpSize == 32 && properties.multiProcessorCount > 0);
    const int n = 15000;
    const size_t bytes = n * sizeof(int);
    EXPECT(bytes > properties.sharedMemPerBlock && bytes <= (size_t)optin);
    CUDA(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 256, bytes));
    CUDA(cudaOccupancyMaxPotentialBlockSize(&least, &best, reverse, bytes));
    EXPECT(blocks >= 1 && best >= 32);
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i;
    int *in = upload(x), *out = zeros<int>(n);
    reverse<<<1, 256, bytes>>>(out, in, n);
    std::vector<int> got = take(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == n - 1 - i);
    CUDA(cudaFree(in));
}
