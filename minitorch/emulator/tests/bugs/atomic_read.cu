// A plain read of a counter that other threads update by atomics, in shared and in global memory.
#include <cstdio>

__global__ void count(int *n, int *seen)
{
    __shared__ int mine;
    if (threadIdx.x == 0)
        mine = 0;
    __syncthreads();
    atomicAdd(&mine, 1); // BUG: race
    if (threadIdx.x == 40)
        seen[blockIdx.x] = mine;
    if (threadIdx.x < 4)
        atomicAdd(n, 1); // BUG: race
    else if (threadIdx.x == 36)
        seen[blockIdx.x + 2] = *n; // BUG: race
}

int main()
{
    int *n, *seen;
    cudaMalloc(&n, sizeof(int));
    cudaMalloc(&seen, 4 * sizeof(int));
    cudaMemset(n, 0, sizeof(int));
    count<<<2, 64>>>(n, seen);
    cudaDeviceSynchronize();
    return 0;
}
