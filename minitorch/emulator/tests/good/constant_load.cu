// __ldg of what another launch has written, of what lies beside the kernel's own stores, and of types of each size.
#include "check.h"
#include <cuda_fp16.h>

__global__ void fill(float *x)
{
    x[threadIdx.x] = (float)threadIdx.x;
}

__global__ void smooth(const float *__restrict__ x, float *out, int n)
{
    int t = threadIdx.x;
    float left = t > 0 ? __ldg(x + t - 1) : 0, right = t + 1 < n ? __ldg(&x[t + 1]) : 0;
    out[t] = left + __ldg(x + t) + right;
}

/* Even bytes are read, odd ones written. */
__global__ void beside(unsigned char *bytes)
{
    bytes[2 * threadIdx.x + 1] = __ldg(bytes + 2 * threadIdx.x) + 1;
}

__global__ void types(const float4 *f, const half *h, const half2 *h2, const double *d, float *sum)
{
    float4 v = __ldg(f);
    half2 pair = __ldg(h2);
    *sum = v.x + v.w + __half2float(__ldg(h)) + __low2float(pair) + __high2float(pair) + (float)__ldg(d);
}

int main()
{
    float *x = zeros<float>(64), *out = zeros<float>(64), *sum = zeros<float>(1);
    for (int i = 0; i < 2; i++) {
        fill<<<1, 64>>>(x);
        smooth<<<1, 64>>>(x, out, 64);
    }
    unsigned char *bytes = zeros<unsigned char>(64);
    beside<<<1, 32>>>(bytes);
    half *h = upload(std::vector<half>({ __float2half(3.0f), __float2half(0.5f) }));
    double *d = upload(std::vector<double>({ 0.25 }));
    types<<<1, 1>>>((const float4 *)x, h, (const half2 *)h, d, sum);
    std::vector<float> got = take(out, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(got[i] == (float)((i > 0 ? i - 1 : 0) + i + (i < 63 ? i + 1 : 0)));
    for (unsigned char i : take(bytes, 64))
        EXPECT(i <= 1);
    EXPECT(take(sum, 1)[0] == 0 + 3 + 3 + 3 + 0.5f + 0.25f);
    take(h, 2), take(d, 1), take(x, 1);
}
