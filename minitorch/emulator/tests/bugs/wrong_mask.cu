// The mask names only half of the lanes that call.
#include <cstdio>

__global__ void sum(int *p)
{
    int v = threadIdx.x;
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0x0000ffff, v, o); // BUG: sync
    p[threadIdx.x] = v;
}

int main()
{
    int *p;
    cudaMalloc(&p, 128);
    sum<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
