// Nothing ensures that the other warps have filled their part.
#include <cstdio>

__global__ void reverse(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];        // BUG: race
    out[t] = s[255 - t]; // BUG: race uninitialised
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 1024);
    cudaMalloc(&out, 1024);
    cudaMemset(in, 0, 1024);
    reverse<<<1, 256>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
