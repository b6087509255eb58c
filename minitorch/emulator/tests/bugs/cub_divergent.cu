// A part of the block takes no part in its reduction.
#include <cstdio>
#include <cub/cub.cuh>

__global__ void sum(float *out, const float *in, int n)
{
    typedef cub::BlockReduce<float, 128> reduction;
    __shared__ reduction::TempStorage temp;
    float all = 0;
    if ((int)threadIdx.x < n)
        all = reduction(temp).Sum(in[threadIdx.x]); // BUG: sync uninitialised
    else
        __syncthreads();
    if (threadIdx.x == 0)
        *out = all;
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 512);
    cudaMalloc(&out, 4);
    cudaMemset(in, 0, 512);
    sum<<<1, 128>>>(out, in, 96);
    cudaDeviceSynchronize();
    return 0;
}
