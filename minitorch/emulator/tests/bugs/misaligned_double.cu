// A double behind an odd number of floats, in an array that the compiler sees.
// SAYS: a double or a float2 starts at a multiple of 8 bytes
#include <cstdio>

__device__ __align__(8) float pool[64];

__global__ void put(double x)
{
    *reinterpret_cast<double *>(&pool[3]) = x; // BUG: misaligned
}

int main()
{
    put<<<1, 1>>>(3.0);
    cudaDeviceSynchronize();
    return 0;
}
