// memcpy and memset are accesses like others.
#include <cstring>

__global__ void shift(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    memset(&s[t], 0, sizeof(float));            // BUG: race
    memcpy(&out[t], &s[63 - t], sizeof(float)); // BUG: race uninitialised
}

__global__ void tail(float *out, const float *in)
{
    memcpy(&out[2 * threadIdx.x], in, 2 * sizeof(float)); // BUG: out-of-bounds
}

int main()
{
    float *in, *out, *small;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, 256);
    cudaMalloc(&small, 252);
    cudaMemset(in, 0, 256);
    shift<<<1, 64>>>(out, in);
    cudaDeviceSynchronize();
    tail<<<1, 32>>>(small, in);
    cudaDeviceSynchronize();
    return 0;
}
