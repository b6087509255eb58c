// Half of the warp waits for the other half, which waits for the block.
#include <cstdio>

__global__ void hang(int *p)
{
    if (threadIdx.x < 16)
        p[threadIdx.x] = __shfl_down_sync(0xffffffff, (int)threadIdx.x, 1); // BUG: sync
    __syncthreads();
}

int main()
{
    int *p;
    cudaMalloc(&p, 128);
    hang<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
