// Only the lower half of the warp synchronises, and reads what the upper half wrote.
#include <cstdio>

__global__ void exchange(float *out)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = t; // BUG: race
    if (t < 16) {
        __syncwarp(0x0000ffff);
        out[t] = s[t + 16]; // BUG: race uninitialised
    } else {
        __syncwarp(0xffff0000);
        out[t] = s[t - 16]; // BUG: race
    }
}

int main()
{
    float *out;
    cudaMalloc(&out, 128);
    exchange<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
