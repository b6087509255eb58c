// Functors, device lambdas with captures, a kernel passed to a template, structs by value.
#include "check.h"

struct scale {
    float factor;
    __device__ float operator()(float x) const
    {
        return x * factor;
    }
};
struct bias {
    float values[8];
    int n;
};

template <class F> __global__ void map(float *x, F f, bias b)
{
    int i = threadIdx.x;
    if (i < b.n)
        x[i] = f(x[i]) + b.values[i % 8];
}

template <class K, class... T> void launch(K kernel, int threads, T... arguments)
{
    kernel<<<1, threads>>>(arguments...);
}

int main()
{
    const int n = 40;
    bias b = { { 1, 2, 3, 4, 5, 6, 7, 8 }, n };
    std::vector<float> x = ramp(n);
    float *dx = upload(x), shift = 3.0f;
    map<<<1, 64>>>(dx, scale{ 2.0f }, b);
    map<<<1, 64>>>(dx, [=] __device__(float v) { return v - shift; }, b);
    launch(map<scale>, 64, dx, scale{ 0.5f }, b);
    std::vector<float> got = take(dx, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == (2 * x[i] + 2 * b.values[i % 8] - shift) * 0.5f + b.values[i % 8]);
}
