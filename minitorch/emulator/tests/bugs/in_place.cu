// An in-place stencil: threads write elements that other threads still read.
#include <cstdio>

__global__ void smooth(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        p[i] = (p[i - 1] + p[i + 1]) * 0.5f; // BUG: race
}

int main()
{
    float *p;
    cudaMalloc(&p, 1024);
    cudaMemset(p, 0, 1024);
    smooth<<<8, 32>>>(p, 256);
    cudaDeviceSynchronize();
    return 0;
}
