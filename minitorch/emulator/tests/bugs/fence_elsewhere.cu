// Fences order the blocks' sum, but not what each block stores afterwards.
#include <cstdio>

__device__ unsigned finished;

__global__ void sum(float *out, volatile float *part, const float *in, int *slowest)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(&finished, 1u) == gridDim.x - 1;
        *slowest = blockIdx.x; // BUG: race
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            all += part[b];
        *out = all;
        finished = 0;
    }
}

int main()
{
    float *in, *part, *out;
    int *slowest;
    cudaMalloc(&in, 64 * sizeof(float));
    cudaMalloc(&part, 64 * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMalloc(&slowest, sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(float));
    cudaMemset(slowest, 0, sizeof(int));
    sum<<<64, 128>>>(out, part, in, slowest);
    cudaDeviceSynchronize();
    return 0;
}
