// One thread per element, a tail that does not fill its block.
#include "check.h"

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const int n = 1000;
    std::vector<float> x = ramp(n), y = ramp(n, 5);
    float *dx = upload(x), *dy = upload(y);
    saxpy<<<(n + 255) / 256, 256>>>(dy, dx, 2.0f, n);
    std::vector<float> got = take(dy, n);
    CUDA(cudaFree(dx));
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == 2.0f * x[i] + y[i]);
}
