// Every width a load can have, and make_ functions.
#include "check.h"

__global__ void mix(const float2 *a, const int4 *b, const uchar4 *c, const double2 *d, float *out)
{
    int i = threadIdx.x;
    float2 p = a[i];
    int4 q = b[i];
    uchar4 r = c[i];
    double2 s = d[i];
    float3 t = make_float3(p.x, p.y, (float)q.w);
    out[i] = t.x + t.y + t.z + q.x + r.z + (float)s.y;
}

int main()
{
    std::vector<float2> a(32);
    std::vector<int4> b(32);
    std::vector<uchar4> c(32);
    std::vector<double2> d(32);
    for (int i = 0; i < 32; i++) {
        a[i] = make_float2((float)i, 1.0f);
        b[i] = make_int4(i, 0, 0, 2 * i);
        c[i] = make_uchar4(0, 0, (unsigned char)i, 0);
        d[i] = make_double2(0.0, 0.5 * i);
    }
    float *out = zeros<float>(32);
    float2 *da = upload(a);
    int4 *db = upload(b);
    uchar4 *dc = upload(c);
    double2 *dd = upload(d);
    mix<<<1, 32>>>(da, db, dc, dd, out);
    std::vector<float> got = take(out, 32);
    for (int i = 0; i < 32; i++)
        EXPECT(got[i] == i + 1 + 2 * i + i + i + 0.5f * i);
    CUDA(cudaFree(da));
    CUDA(cudaFree(db));
    CUDA(cudaFree(dc));
    CUDA(cudaFree(dd));
}
