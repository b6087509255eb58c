// Kernels in namespaces, static, extern "C"; NULL and braces as arguments.
#include "check.h"

namespace outer
{
namespace
{
__global__ void set(int *x, const int *from, int2 v)
{
    *x = from ? *from : v.x + v.y;
}
} // namespace
template <int N> struct chooser {
    static __device__ int value()
    {
        return N;
    }
    static void run(int *x);
};
template <int N> static __global__ void choose(int *x)
{
    *x += chooser<N>::value();
}
template <int N> void chooser<N>::run(int *x)
{
    choose<N><<<1, 1>>>(x);
}
} // namespace outer

extern "C" __global__ void increment(int *x)
{
    ++*x;
}

int main()
{
    int *x = zeros<int>(1);
    outer::set<<<1, 1>>>(x, NULL, { 3, 4 });
    increment<<<1, 1>>>(x);
    ::outer::chooser<5>::run(x);
    EXPECT(take(x, 1)[0] == 13);
}
