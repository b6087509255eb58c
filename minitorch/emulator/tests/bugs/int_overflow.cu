// row * pitch overflows an int and becomes negative.
#include <cstdio>

__global__ void clear_row(float *p, int row, int pitch)
{
    int i = row * pitch + (int)threadIdx.x;
    p[i] = 0; // BUG: out-of-bounds
}

int main()
{
    float *p;
    cudaMalloc(&p, 4096);
    clear_row<<<1, 32>>>(p, 65536, 32769);
    cudaDeviceSynchronize();
    return 0;
}
