// Half of a warp shuffles with the mask of the whole, and the others go past: their values are undefined.
// SAYS: which does not take part (it has returned)
#include <cstdio>

__global__ void shift(int *x)
{
    int v = x[threadIdx.x];
    if (threadIdx.x < 16)
        v = __shfl_down_sync(0xffffffff, v, 1); // BUG: sync
    x[threadIdx.x] = v;
}

/* Threads beyond the end return, and the sum reads their lanes. */
__global__ void sum(const int *x, int *all, int n)
{
    if (threadIdx.x >= n)
        return;
    int v = x[threadIdx.x];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_down_sync(0xffffffff, v, o); // BUG: sync
    if (threadIdx.x == 0)
        *all = v;
}

/* A block of 8 threads has no lane 16; lanes 8 to 15 are not in the mask. */
__global__ void small(int *x)
{
    int v = x[threadIdx.x];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_down_sync(0xffffffff, v, o); // BUG: sync
    x[threadIdx.x] = v;
}

__global__ void masked(int *x)
{
    int v = x[threadIdx.x];
    if (threadIdx.x < 8)
        v += __shfl_xor_sync(0xff, v, 8); // BUG: sync
    x[threadIdx.x] = v;
}

int main()
{
    int *x;
    cudaMalloc(&x, 33 * sizeof(int));
    cudaMemset(x, 0, 33 * sizeof(int));
    shift<<<1, 32>>>(x);
    sum<<<1, 32>>>(x, x + 32, 20);
    small<<<1, 8>>>(x);
    masked<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    return 0;
}
