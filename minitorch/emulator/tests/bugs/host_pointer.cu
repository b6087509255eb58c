// A host array is passed as a device pointer.
#include <cstdio>

__global__ void fill(float *p)
{
    p[threadIdx.x] = 1; // BUG: bad-pointer
}

int main()
{
    static float host[32];
    fill<<<1, 32>>>(host);
    cudaDeviceSynchronize();
    return 0;
}
