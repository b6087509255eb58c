// gridDim instead of blockDim: threads of several blocks have the same element.
#include <cstdio>

__global__ void twice(float *p, int n)
{
    int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2; // BUG: race
}

int main()
{
    float *p;
    cudaMalloc(&p, 1024 * sizeof(float));
    cudaMemset(p, 1, 1024 * sizeof(float));
    twice<<<4, 256>>>(p, 1024);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: is the index right?
