// There is no bounds check: the last block accesses elements beyond the end.
#include <cstdio>

__global__ void scale(const float *x, float *y, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i]; // BUG: out-of-bounds
}

int main()
{
    float *x, *y;
    cudaMalloc(&x, 100 * sizeof(float));
    cudaMalloc(&y, 100 * sizeof(float));
    cudaMemset(x, 0, 100 * sizeof(float));
    scale<<<1, 128>>>(x, y, 2.0f);
    cudaDeviceSynchronize();
    return 0;
}
