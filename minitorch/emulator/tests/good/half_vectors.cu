// half and half2: arithmetic, conversions, comparisons.
#include "check.h"
#include <cuda_fp16.h>

__global__ void axpy(__half2 *y, const __half2 *x, __half a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 a2 = __half2half2(a);
    if (i < n)
        y[i] = __hfma2(a2, x[i], y[i]);
}

__global__ void clip(half *x, int n)
{
    int i = threadIdx.x;
    if (i < n && __hgt(x[i], __float2half(4.0f)))
        x[i] = __float2half(4.0f) + __float2half(0.5f) * (x[i] - __float2half(4.0f));
}

// Pairs of 1 and 0: false for NaN, also with !=, of which the operator is true.
__global__ void compare(float *out, const __half2 *x)
{
    const __half2 four = __half2half2(__float2half(4.0f)),
                  pairs[] = { __hgt2(x[0], four), __hge2(x[0], four), __hlt2(x[0], four),
                              __hle2(x[0], four), __heq2(x[0], four), __hne2(x[0], four) };
    for (int i = 0; i < 6; i++) {
        out[2 * i] = __low2float(pairs[i]);
        out[2 * i + 1] = __high2float(pairs[i]);
    }
    out[12] = __hne(x[0].y, four.y);
    out[13] = x[0].y != four.y;
}

int main()
{
    const int n = 128;
    std::vector<half> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = __float2half(0.0625f * (float)i);
        y[i] = __float2half(1.0f);
    }
    half *dx = upload(x), *dy = upload(y);
    axpy<<<1, 64>>>((__half2 *)dy, (const __half2 *)dx, __float2half(0.5f), n / 2);
    clip<<<1, n>>>(dy, n);
    std::vector<half> got = take(dy, n);
    for (int i = 0; i < n; i++) {
        float want = 1.0f + 0.03125f * (float)i;
        EXPECT(near(__half2float(got[i]), want > 4.0f ? 4.0f + 0.5f * (want - 4.0f) : want, 0.004f));
    }
    for (int nan = 0; nan < 2; nan++) {
        half *pair = upload(std::vector<half>{ __float2half(5.0f), __float2half(nan ? NAN : 4.0f) });
        float *out = upload(std::vector<float>(14));
        compare<<<1, 1>>>(out, (const __half2 *)pair);
        const std::vector<float> want = nan ? std::vector<float>{ 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1 }
                                            : std::vector<float>{ 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0 };
        EXPECT(take(out, 14) == want);
        CUDA(cudaFree(pair));
    }
    CUDA(cudaFree(dx));
}
