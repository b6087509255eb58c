// Conversions at the edges: ties to even, subnormals, infinity, both formats, on the device as on the host.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void convert(unsigned short *h, unsigned short *b, const float *x, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        h[i] = __half_as_ushort(__float2half(x[i]));
        b[i] = __bfloat16_as_ushort(__float2bfloat16(x[i]));
    }
}

/* The lower half of the bits is cut off, or not, before they are rounded. */
__global__ void cut(float *out, const float *x, int n, int cuts)
{
    int i = threadIdx.x;
    if (i < n) {
        float v = x[i];
        if (cuts)
            v = __uint_as_float(__float_as_uint(v) & 0xffff0000u);
        out[i] = __bfloat162float(__float2bfloat16(v));
    }
}

int main()
{
    std::vector<float> x = {
        0.0f,     -0.0f,    1.0f,   1.00048828125f,  1.00146484375f,         65504.0f,
        65519.0f, 65520.0f, -1e30f, 6.103515625e-5f, 5.9604644775390625e-8f, 2.98023223876953125e-8f,
        4e-8f,    0.1f
    };
    std::vector<unsigned short> h = { 0,      0x8000, 0x3c00, 0x3c00, 0x3c02, 0x7bff, 0x7bff,
                                      0x7c00, 0xfc00, 0x0400, 0x0001, 0x0000, 0x0001, 0x2e66 };
    std::vector<unsigned short> b = { 0,      0x8000, 0x3f80, 0x3f80, 0x3f80, 0x4780, 0x4780,
                                      0x4780, 0xf14a, 0x3880, 0x3380, 0x3300, 0x332c, 0x3dcd };
    const int n = (int)x.size();
    float *dx = upload(x);
    unsigned short *dh = zeros<unsigned short>(n), *db = zeros<unsigned short>(n);
    convert<<<1, 32>>>(dh, db, dx, n);
    EXPECT(take(dh, n) == h);
    EXPECT(take(db, n) == b);
    for (int i = 0; i < n; i++)
        EXPECT(__half_as_ushort(__float2half(x[i])) == h[i]);
    float *out = zeros<float>(n);
    cut<<<1, 32>>>(out, dx, n, 1);
    std::vector<float> got = take(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(fabsf(got[i]) <= fabsf(x[i]));
    CUDA(cudaFree(dx));
}
