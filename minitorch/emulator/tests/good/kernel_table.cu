// Kernels through a table of function pointers, as the ladders of the labs keep them.
#include "check.h"

__global__ void by_thread(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1.0f;
}
__global__ void by_stride(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] + 1.0f;
}

static const struct rung {
    const char *name;
    void (*kernel)(float *, const float *, int);
    int blocks;
} ladder[] = { { "by thread", by_thread, 8 }, { "by stride", by_stride, 2 } };

int main()
{
    const int n = 500;
    std::vector<float> x = ramp(n);
    float *in = upload(x);
    for (const rung &r : ladder) {
        float *out = zeros<float>(n);
        r.kernel<<<r.blocks, 64>>>(out, in, n);
        std::vector<float> got = take(out, n);
        for (int i = 0; i < n; i++)
            EXPECT(got[i] == x[i] + 1.0f);
    }
    CUDA(cudaFree(in));
}
