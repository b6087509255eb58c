// CUEMU_MEMORY is the size of device memory, and of managed and pinned memory together.
#include "check.h"

#ifdef __CUEMU__
__attribute__((constructor(101))) static void before_the_emulator()
{
    setenv("CUEMU_MEMORY", "16", 1);
}
#endif

__global__ void mark(char *first, char *last)
{
    *first = 1;
    *last = 2;
}

int main()
{
    const size_t size = 12 << 20;
    char *device, *pinned, *managed;
    CUDA(cudaMalloc(&device, size));
    CUDA(cudaMallocHost(&pinned, size));
    mark<<<1, 1>>>(pinned, pinned + size - 1);
    CUDA(cudaDeviceSynchronize());
    EXPECT(pinned[0] == 1 && pinned[size - 1] == 2);
#ifdef __CUEMU__
    EXPECT(cudaMallocManaged(&managed, size) == cudaErrorMemoryAllocation && cudaGetLastError() != cudaSuccess);
    CUDA(cudaFreeHost(pinned));
    pinned = nullptr;
#endif
    CUDA(cudaMallocManaged(&managed, size));
    mark<<<1, 1>>>(managed, managed + size - 1);
    CUDA(cudaDeviceSynchronize());
    EXPECT(managed[0] == 1 && managed[size - 1] == 2);
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFree(managed));
    CUDA(cudaFree(device));
}
