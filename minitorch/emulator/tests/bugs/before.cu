// Thread 0 has no left neighbour.
#include <cstdio>

__global__ void difference(const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = x[i] - x[i - 1]; // BUG: out-of-bounds
}

int main()
{
    float *x, *y;
    cudaMalloc(&x, 128);
    cudaMalloc(&y, 128);
    cudaMemset(x, 0, 128);
    difference<<<1, 32>>>(x, y);
    cudaDeviceSynchronize();
    return 0;
}
