// A device with less shared memory than others: what it says of itself, and a block that has all of it.
#include "check.h"

#ifdef __CUEMU__
__attribute__((constructor(101))) static void before_the_emulator()
{
    setenv("CUEMU_ARCH", "sm_86", 1);
}
#endif

__global__ void reverse(int *out, int n)
{
    extern __shared__ int values[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        values[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = values[n - 1 - i];
}

int main()
{
    cudaDeviceProp p;
    int optin, major, minor, processors, blocks, few;
    size_t each;
    CUDA(cudaGetDeviceProperties(&p, 0));
    CUDA(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(p.sharedMemPerBlockOptin == (size_t)optin && p.major == major && p.minor == minor);
    CUDA(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, optin));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 32, 0));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, reverse, 512, 20 << 10));
    CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&each, reverse, 1, 256));
    EXPECT(few >= 1 && blocks >= few && each <= (size_t)optin);
#ifdef __CUEMU__
    EXPECT(optin == 99 << 10 && major == 8 && minor == 6 && processors == 82 && each == 99 << 10);
    EXPECT(p.sharedMemPerMultiprocessor == 100 << 10 && p.maxThreadsPerMultiProcessor == 1536);
    EXPECT(blocks == 16 && few == 3); // 100 KiB hold four of 20 and 1 KiB, 1536 threads three blocks
#endif
    const int n = optin / (int)sizeof(int);
    int *out = zeros<int>(n);
    reverse<<<1, 256, optin>>>(out, n);
    std::vector<int> got = take(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == n - 1 - i);
}
