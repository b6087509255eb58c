// The Programming Guide's atomicAdd for double: the loop begins with a plain read of a word that other threads update,
// in shared and in global memory, from several warps and blocks. It is long enough to fill the buffers of records.
#include "check.h"

__device__ double add(double *at, double value)
{
    unsigned long long *bits = (unsigned long long *)at, old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(value + __longlong_as_double(seen)));
    } while (old != seen);
    return __longlong_as_double(old);
}

__global__ void sum(double *out, const float *in, int n)
{
    __shared__ double all;
    if (threadIdx.x == 0)
        all = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        add(&all, in[i]);
    __syncthreads();
    if (threadIdx.x < 2)
        add(out, all / 2);
    if (threadIdx.x % 32 == 5)
        add(out + 1, 1);
}

__global__ void count(double *out, int n)
{
    for (int i = 0; i < n; i++)
        add(out, 1);
}

int main()
{
    std::vector<float> x = ramp(4000, 83);
    float *in = upload(x);
    double *out = zeros<double>(2), *counted = zeros<double>(1), expected = 0;
    sum<<<4, 96>>>(out, in, 4000);
    count<<<3, 64>>>(counted, 300);
    for (float v : x)
        expected += v;
    std::vector<double> all = take(out, 2);
    EXPECT(all[0] == expected && all[1] == 12);
    EXPECT(take(counted, 1)[0] == 3 * 64 * 300);
    CUDA(cudaFree(in));
}
