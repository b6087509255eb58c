// 1 MB of shared memory: a block has at most 227 KB.
#include <cstdio>

__global__ void fill(float *p)
{
    extern __shared__ float s[];
    s[threadIdx.x] = 0;
    p[threadIdx.x] = s[threadIdx.x];
}

int main()
{
    float *p;
    cudaMalloc(&p, 128);
    fill<<<1, 32, 1 << 20>>>(p); // BUG: limit
    return 0;
}
