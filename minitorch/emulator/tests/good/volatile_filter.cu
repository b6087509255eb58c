// A read through a volatile decides whether an atomic is worth its time: what it sees may be old, and the atomic
// decides.
#include "check.h"

__global__ void largest(int *best, const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > *(volatile int *)best)
        atomicMax(best, x[i]);
}

__global__ void largest_of_block(int *best, const int *x, int n)
{
    __shared__ int most;
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > *(volatile int *)&most)
        atomicMax(&most, x[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(best, most);
}

/* One thread waits until all have counted. */
__global__ void wait_for_all(int *count, int *seen)
{
    atomicAdd(count, 1);
    if (threadIdx.x == 40) {
        while (*(volatile int *)count < (int)blockDim.x)
            __nanosleep(100);
        *seen = *(volatile int *)count;
    }
}

int main()
{
    std::vector<int> values(1000);
    for (int i = 0; i < 1000; i++)
        values[i] = i * 37 % 1000;
    int *x = upload(values), *best = zeros<int>(2), *count = zeros<int>(2);
    largest<<<4, 256>>>(best, x, 1000);
    largest_of_block<<<4, 256>>>(best + 1, x, 1000);
    wait_for_all<<<1, 64>>>(count, count + 1);
    EXPECT(take(best, 2) == std::vector<int>({ 999, 999 }));
    EXPECT(take(count, 2)[1] == 64);
    take(x, 1);
}
