// The launch gives the size of 32 floats as 32, not in bytes.
#include <cstdio>

__global__ void reverse(float *p)
{
    extern __shared__ float s[];
    s[threadIdx.x] = p[threadIdx.x]; // BUG: out-of-bounds
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}

int main()
{
    float *p;
    cudaMalloc(&p, 128);
    cudaMemset(p, 0, 128);
    reverse<<<1, 32, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
