// An overrun of one array would silently access the next one.
#include <cstdio>

__global__ void two_arrays(const float *in, float *out)
{
    __shared__ float a[32];
    __shared__ float b[32];
    a[threadIdx.x] = in[threadIdx.x];
    b[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 32; k++)
        sum += a[k]; // BUG: out-of-bounds
    out[threadIdx.x] = sum + b[threadIdx.x];
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 128);
    cudaMalloc(&out, 128);
    cudaMemset(in, 0, 128);
    two_arrays<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
