// h[x]++ is a read and a write: two threads with the same x lose a count.
#include <cstdio>

__global__ void histogram(const int *x, int *h)
{
    h[x[threadIdx.x] & 3]++; // BUG: race
}

int main()
{
    int *x, *h;
    cudaMalloc(&x, 128);
    cudaMalloc(&h, 16);
    cudaMemset(x, 1, 128);
    cudaMemset(h, 0, 16);
    histogram<<<1, 32>>>(x, h);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: use an atomic
