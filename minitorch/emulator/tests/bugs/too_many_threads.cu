// A block has at most 1024 threads; without a check the kernel simply does not run.
#include <cstdio>

__global__ void fill(float *p)
{
    p[threadIdx.x] = 0;
}

int main()
{
    float *p;
    cudaMalloc(&p, 8192);
    fill<<<1, 2048>>>(p); // BUG: limit
    return 0;
}
// SAYS: <<<blocks, threads per block>>>
