// The bounds check is off by one: thread n writes too.
#include <cstdio>

__global__ void iota(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        p[i] = i; // BUG: out-of-bounds
}

int main()
{
    float *p;
    cudaMalloc(&p, 1000 * sizeof(float));
    iota<<<8, 128>>>(p, 1000);
    cudaDeviceSynchronize();
    return 0;
}
