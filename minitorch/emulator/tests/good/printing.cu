// printf and assert in a kernel.
#include "check.h"
#include <cassert>

__global__ void greet(int n)
{
    assert(n == 2 && "two threads speak");
    if ((int)threadIdx.x < n)
        printf("hello from thread %d of block %d: %.1f %s\n", threadIdx.x, blockIdx.x, 1.5, "text");
}

int main()
{
    greet<<<1, 32>>>(2);
    CUDA(cudaDeviceSynchronize());
}
