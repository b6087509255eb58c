// Blocks that wait for each other by a volatile flag, set by one thread after a fence and a barrier; tickets give the
// order.
#include "check.h"

__device__ unsigned tickets;

// Every block adds to the sum of the block before it.
__global__ void running_sum(int *sums, int *ready, const int *in)
{
    __shared__ unsigned turn;
    __shared__ int before;
    if (threadIdx.x == 0)
        turn = atomicAdd(&tickets, 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
        while (turn > 0 && ((volatile int *)ready)[turn - 1] == 0)
            __nanosleep(20);
        __threadfence();
        before = turn > 0 ? sums[(turn - 1) * 32 + 31] : 0;
    }
    __syncthreads();
    int v = in[turn * 32 + threadIdx.x];
    for (int by = 1; by < 32; by *= 2) {
        int other = __shfl_up_sync(0xffffffffu, v, by);
        v += threadIdx.x >= by ? other : 0;
    }
    sums[turn * 32 + threadIdx.x] = before + v;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        *(volatile int *)&ready[turn] = 1;
}

int main()
{
    const int blocks = 40, n = 32 * blocks;
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i % 7;
    int *in = upload(x), *sums = zeros<int>(n), *ready = zeros<int>(blocks), want = 0;
    running_sum<<<blocks, 32>>>(sums, ready, in);
    std::vector<int> got = take(sums, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == (want += x[i]));
    CUDA(cudaFree(in));
    CUDA(cudaFree(ready));
}
