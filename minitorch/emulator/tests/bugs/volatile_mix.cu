// A volatile orders nothing: read and written by several threads without an atomic, within a block and between blocks.
#include <cstdio>

__global__ void largest(int *best, const int *x)
{
    __shared__ int most;
    if (threadIdx.x == 0)
        *(volatile int *)&most = 0;
    __syncthreads();
    if (x[threadIdx.x] > *(volatile int *)&most) // BUG: race
        *(volatile int *)&most = x[threadIdx.x]; // BUG: race
    __syncthreads();
    int mine = most + blockIdx.x;
    if (threadIdx.x == 0 && mine > *(volatile int *)best) // BUG: race
        *(volatile int *)best = mine;                     // BUG: race
}

/* The read that is not a volatile's may be moved. */
__global__ void plain(int *best, const int *x)
{
    if (x[threadIdx.x] > *best)          // BUG: race
        atomicMax(best, x[threadIdx.x]); // BUG: race
}

int main()
{
    int *best, *x, values[64];
    for (int i = 0; i < 64; i++)
        values[i] = i * 37 % 64;
    cudaMalloc(&best, 2 * sizeof(int));
    cudaMalloc(&x, sizeof values);
    cudaMemset(best, 0, 2 * sizeof(int));
    cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
    largest<<<2, 64>>>(best, x);
    plain<<<2, 64>>>(best + 1, x);
    cudaDeviceSynchronize();
    return 0;
}
