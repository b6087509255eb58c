// A float4 of constants, one float behind an aligned address.
#include <cstdio>

__global__ void fill(float *x)
{
    float4 *rows = reinterpret_cast<float4 *>(x + 1);
    rows[threadIdx.x] = make_float4(1, 2, 3, 4); // BUG: misaligned
}

int main()
{
    float *x;
    cudaMalloc(&x, 33 * sizeof(float4));
    fill<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    return 0;
}
