// The buffer is freed before the kernel that writes it.
#include <cstdio>

__global__ void fill(float *p)
{
    p[threadIdx.x] = 1; // BUG: use-after-free
}

int main()
{
    float *p;
    cudaMalloc(&p, 128);
    cudaFree(p);
    fill<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
