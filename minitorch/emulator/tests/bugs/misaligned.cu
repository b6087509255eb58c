// Rows of 33 floats do not all begin at a multiple of 16 bytes.
#include <cstdio>

__global__ void row_sums(const float *x, float *sums, int columns)
{
    const float *row = x + threadIdx.x * columns;
    float4 v = *reinterpret_cast<const float4 *>(row); // BUG: misaligned
    sums[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main()
{
    float *x, *sums;
    cudaMalloc(&x, 32 * 33 * sizeof(float));
    cudaMalloc(&sums, 128);
    cudaMemset(x, 0, 32 * 33 * sizeof(float));
    row_sums<<<1, 32>>>(x, sums, 33);
    cudaDeviceSynchronize();
    return 0;
}
