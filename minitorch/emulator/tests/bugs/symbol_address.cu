// The address of a constant, where CUDA wants the variable. It compiles; the call fails.
#include <cstdio>

__constant__ float c0;

__global__ void scale(float *x)
{
    x[threadIdx.x] *= c0;
}

int main()
{
    float *x, factor = 2;
    cudaMalloc(&x, 128);
    cudaMemset(x, 0, 128);
    cudaMemcpyToSymbol(&c0, &factor, sizeof factor); // BUG: host-api
    scale<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: give the variable by its name, without & and without quotation marks
