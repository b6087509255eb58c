// Waits for a flag that is never set.
#include <cstdio>

__global__ void wait(volatile int *flag)
{
    while (*flag == 0) // BUG: endless
        ;
}

int main()
{
    int *flag;
    cudaMalloc(&flag, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    wait<<<1, 32>>>(flag);
    cudaDeviceSynchronize();
    return 0;
}
