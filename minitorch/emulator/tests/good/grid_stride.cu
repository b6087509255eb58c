// A grid smaller than its work; 64-bit indices.
#include "check.h"
#include <cstdint>

__global__ void square(float *x, int64_t n)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        x[i] *= x[i];
}

int main()
{
    const int n = 3001;
    std::vector<float> x = ramp(n);
    float *dx = upload(x);
    square<<<dim3(3), dim3(96)>>>(dx, n);
    std::vector<float> got = take(dx, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == x[i] * x[i]);
}
