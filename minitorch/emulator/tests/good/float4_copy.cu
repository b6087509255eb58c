// Vector loads with a scalar tail.
#include "check.h"

__global__ void scale(float *out, const float *in, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 v = reinterpret_cast<const float4 *>(in)[i];
        v.x *= a, v.y *= a, v.z *= a, v.w *= a;
        reinterpret_cast<float4 *>(out)[i] = v;
    }
    int tail = n / 4 * 4 + i;
    if (i < n % 4)
        out[tail] = a * in[tail];
}

int main()
{
    const int n = 1031;
    std::vector<float> x = ramp(n);
    float *in = upload(x), *out = zeros<float>(n);
    scale<<<3, 128>>>(out, in, 3.0f, n);
    std::vector<float> got = take(out, n);
    CUDA(cudaFree(in));
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == 3.0f * x[i]);
}
