// Prints in an endless loop.
#include <cstdio>

__global__ void chat()
{
    for (;;)
        printf("thread %d is here\n", threadIdx.x); // BUG: endless
}

int main()
{
    chat<<<1, 32>>>();
    cudaDeviceSynchronize();
    return 0;
}
