// atomicMax for float, made of a compare-and-swap loop.
#include "check.h"

__device__ float atomic_max(float *at, float v)
{
    int *bits = (int *)at, old = atomicAdd(bits, 0), seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= v)
            break;
        old = atomicCAS(bits, seen, __float_as_int(v));
    } while (old != seen);
    return __int_as_float(old);
}

__global__ void maximum(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomic_max(out, in[i]);
}

int main()
{
    std::vector<float> x = ramp(500, 83);
    float *in = upload(x), *out = upload(std::vector<float>{ -1e30f });
    maximum<<<4, 128>>>(out, in, 500);
    EXPECT(take(out, 1)[0] == (82 - 41) * 0.25f);
    CUDA(cudaFree(in));
}
