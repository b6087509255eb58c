// The tile of the next step is written while slow warps still read this one.
#include <cstdio>

__global__ void sum_tiles(const float *in, float *out, int tiles)
{
    __shared__ float s[64];
    float sum = 0;
    for (int k = 0; k < tiles; k++) {
        s[threadIdx.x] = in[k * 64 + threadIdx.x]; // BUG: race
        __syncthreads();
        for (int i = 0; i < 64; i++)
            sum += s[i]; // BUG: race
    }
    out[threadIdx.x] = sum;
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 4 * 256);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 4 * 256);
    sum_tiles<<<1, 64>>>(in, out, 4);
    cudaDeviceSynchronize();
    return 0;
}
