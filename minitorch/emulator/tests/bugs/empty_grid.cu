// An empty array makes a grid of no blocks, which CUDA refuses.
#include <cstdio>

__global__ void fill(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = 0;
}

int main()
{
    float *p;
    int n = 0;
    cudaMalloc(&p, 128);
    fill<<<(n + 255) / 256, 256>>>(p, n); // BUG: limit
    return 0;
}
// SAYS: do not launch for an empty array
