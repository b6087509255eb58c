// __ldg loads what no thread of the launch may write: a barrier between the two does not help.
// SAYS: __ldg loads by a cache that does not see the stores of the same launch
#include <cstdio>

__global__ void after_store(int *x)
{
    x[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[64 + threadIdx.x] = __ldg(&x[threadIdx.x ^ 1]); // BUG: race
}

__global__ void in_place(float4 *x)
{
    float4 v = __ldg(&x[threadIdx.x]);
    __syncthreads();
    x[threadIdx.x ^ 1] = make_float4(v.y, v.z, v.w, v.x); // BUG: race
}

__global__ void instruction(int *x)
{
    int v;
    x[threadIdx.x] += 1;
    __syncwarp();
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(x + threadIdx.x)); // BUG: race
    x[64 + threadIdx.x] = v;
}

int main()
{
    int *x;
    cudaMalloc(&x, 128 * sizeof(int));
    cudaMemset(x, 0, 128 * sizeof(int));
    after_store<<<1, 64>>>(x);
    in_place<<<1, 32>>>((float4 *)x);
    instruction<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    return 0;
}
