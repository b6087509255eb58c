// The last float4 of 30 floats has only two.
#include <cstdio>

__global__ void copy(float *out, const float *x, int n)
{
    int i = 4 * threadIdx.x;
    if (i < n)
        *reinterpret_cast<float4 *>(out + i) = *reinterpret_cast<const float4 *>(x + i); // BUG: out-of-bounds
}

int main()
{
    float *x, *out;
    cudaMalloc(&x, 30 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(x, 0, 30 * sizeof(float));
    copy<<<1, 32>>>(out, x, 30);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: test i + 4 <= n for a float4
