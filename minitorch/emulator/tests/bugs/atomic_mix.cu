// One side is atomic, the other is not.
#include <cstdio>

__global__ void count(int *n)
{
    if (threadIdx.x < 16)
        atomicAdd(n, 1);
    else if (threadIdx.x == 16)
        *n = 0; // BUG: race
}

int main()
{
    int *n;
    cudaMalloc(&n, sizeof(int));
    cudaMemset(n, 0, sizeof(int));
    count<<<1, 32>>>(n);
    cudaDeviceSynchronize();
    return 0;
}
