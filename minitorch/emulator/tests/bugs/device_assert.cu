// An assertion in a kernel fails.
#include <cassert>

__global__ void check(const int *p)
{
    assert(p[threadIdx.x] == 0); // BUG: assert
}

int main()
{
    int *p;
    cudaMalloc(&p, 128);
    cudaMemset(p, 1, 128);
    check<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
