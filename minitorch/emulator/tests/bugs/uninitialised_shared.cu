// Only the first half of the array is filled.
#include <cstdio>

__global__ void copy(const float *in, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = in[t];
    __syncthreads();
    out[t] = s[t]; // BUG: uninitialised
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 256);
    copy<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
