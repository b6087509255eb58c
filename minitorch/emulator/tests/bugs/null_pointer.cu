// The pointer was never allocated.
#include <cstdio>

__global__ void fill(float *p)
{
    p[threadIdx.x] = 1; // BUG: bad-pointer
}

int main()
{
    float *p = nullptr;
    fill<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
