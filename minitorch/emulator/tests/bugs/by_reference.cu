// A kernel that takes a reference reads the host's memory.
#include <cstdio>

__global__ void scale(float *x, const float &factor)
{
    x[threadIdx.x] *= factor; // BUG: bad-pointer
}

int main()
{
    static float factor = 2;
    float *x;
    cudaMalloc(&x, 128);
    cudaMemset(x, 0, 128);
    scale<<<1, 32>>>(x, factor);
    cudaDeviceSynchronize();
    return 0;
}
