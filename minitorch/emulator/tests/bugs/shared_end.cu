// The array has 32 elements; thread 31 writes a 33rd.
#include <cstdio>

__global__ void shift(float *out)
{
    __shared__ float s[32];
    s[threadIdx.x + 1] = 1; // BUG: out-of-bounds
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

int main()
{
    float *out;
    cudaMalloc(&out, 128);
    shift<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: immediately after the end of shared array s
