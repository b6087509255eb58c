// __device__ variables: by symbol, by address, as an array; each block adds.
#include "check.h"

__device__ int total;
__device__ float table[64], scale = 2.0f;

__global__ void fill()
{
    table[threadIdx.x] = scale * (float)threadIdx.x;
    atomicAdd(&total, (int)threadIdx.x);
}

int main()
{
    float host[64], three = 3.0f, *address;
    int sum;
    CUDA(cudaMemcpyToSymbol(scale, &three, sizeof three));
    fill<<<1, 64>>>();
    CUDA(cudaMemcpyFromSymbol(host, table, sizeof host));
    CUDA(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    CUDA(cudaGetSymbolAddress((void **)&address, table));
    CUDA(cudaMemset(address, 0, sizeof(float)));
    EXPECT(sum == 63 * 32);
    for (int i = 0; i < 64; i++)
        EXPECT(host[i] == 3.0f * (float)i);
}
