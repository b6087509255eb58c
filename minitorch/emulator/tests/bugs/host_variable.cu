// A kernel sees a copy of its arguments, never a variable of the host.
#include <cstdio>

int *table;
__global__ void fill(int **where)
{
    (*where)[threadIdx.x] = 1; // BUG: bad-pointer
}

int main()
{
    cudaMalloc(&table, 128);
    fill<<<1, 32>>>(&table);
    cudaDeviceSynchronize();
    return 0;
}
