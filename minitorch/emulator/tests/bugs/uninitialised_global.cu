// cudaMalloc does not clear: the sum starts with an arbitrary value.
#include <cstdio>

__global__ void accumulate(const float *x, float *sum)
{
    sum[threadIdx.x] += x[threadIdx.x]; // BUG: uninitialised
}

int main()
{
    float *x, *sum;
    cudaMalloc(&x, 128);
    cudaMalloc(&sum, 128);
    cudaMemset(x, 0, 128);
    accumulate<<<1, 32>>>(x, sum);
    cudaDeviceSynchronize();
    return 0;
}
