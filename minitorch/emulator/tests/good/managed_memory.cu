// Unified memory, accessed by host and device in turn; a __managed__ variable.
#include "check.h"

__managed__ int calls;

__global__ void twice(float *x, int n)
{
    if (threadIdx.x == 0)
        calls++;
    if ((int)threadIdx.x < n)
        x[threadIdx.x] *= 2.0f;
}

int main()
{
    float *x;
    CUDA(cudaMallocManaged(&x, 40 * sizeof(float)));
    for (int i = 0; i < 40; i++)
        x[i] = (float)i;
    for (int round = 0; round < 3; round++) {
        twice<<<1, 64>>>(x, 40);
        CUDA(cudaDeviceSynchronize());
        x[0] += 1.0f;
    }
    EXPECT(calls == 3 && x[0] == 7.0f && x[39] == 312.0f);
    CUDA(cudaFree(x));
}
