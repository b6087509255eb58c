// Every block adds to one sum without an atomic.
#include <cstdio>

__global__ void total(const float *x, float *sum)
{
    if (threadIdx.x == 0)
        *sum += x[blockIdx.x]; // BUG: race
}

int main()
{
    float *x, *sum;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(x, 1, 64 * sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    total<<<64, 128>>>(x, sum);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: or a second kernel
