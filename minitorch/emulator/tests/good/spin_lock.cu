// One thread per block takes a lock; the guarded data is accessed between the lock's fences.
#include "check.h"

__device__ int lock;

__global__ void add(volatile int *sum)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&lock, 0, 1) != 0)
        __nanosleep(100);
    __threadfence();
    *sum = *sum + (int)blockIdx.x;
    __threadfence();
    atomicExch(&lock, 0);
}

int main()
{
    int *sum = zeros<int>(1);
    add<<<20, 32>>>(sum);
    EXPECT(take(sum, 1)[0] == 190);
}
