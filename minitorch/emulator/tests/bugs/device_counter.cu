// A __device__ variable is global memory like any other.
#include <cstdio>

__device__ int counter;
__global__ void count()
{
    counter++; // BUG: race
}

int main()
{
    count<<<4, 32>>>();
    cudaDeviceSynchronize();
    return 0;
}
