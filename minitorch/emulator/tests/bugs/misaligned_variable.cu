// The compiler knows how the array is aligned, and that its second float is not where a float4 may begin.
// SAYS: a float4 or a double2 starts at a multiple of 16 bytes
#include <cstdio>

__device__ __align__(16) float table[64];

__global__ void clear(const float4 *from)
{
    *reinterpret_cast<float4 *>(table + 1) = from[threadIdx.x]; // BUG: misaligned
}

int main()
{
    float4 *from;
    cudaMalloc(&from, sizeof(float4));
    cudaMemset(from, 0, sizeof(float4));
    clear<<<1, 1>>>(from);
    cudaDeviceSynchronize();
    return 0;
}
