// 64 KB of static shared memory: more than 48 KB does not compile with nvcc.
#include <cstdio>

__global__ void fill(float *p)
{
    __shared__ float s[16384]; // BUG: limit
    s[threadIdx.x] = 0;
    p[threadIdx.x] = s[threadIdx.x];
}

int main()
{
    float *p;
    cudaMalloc(&p, 128);
    fill<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
