// Structs that functions return are stored in memory: the store must be traced.
#include "check.h"

struct moments {
    float largest, sum;
    int count;
    double square;
};

__noinline__ __device__ moments of(float x)
{
    return { x, x, 1, (double)x * x };
}

__device__ moments merge(moments a, moments b)
{
    return { fmaxf(a.largest, b.largest), a.sum + b.sum, a.count + b.count, a.square + b.square };
}

__global__ void reduce(moments *out, const float *in, int n)
{
    __shared__ moments s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? of(in[i]) : moments{ -1e30f, 0.0f, 0, 0.0 };
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] = merge(s[t], s[t + d]);
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void finish(moments *out, int n)
{
    moments all = out[0];
    for (int i = 1; i < n; i++)
        all = merge(all, out[i]);
    out[n] = merge(all, { -1e30f, 0.0f, 0, 0.0 });
}

int main()
{
    std::vector<float> x = ramp(300, 83);
    float *in = upload(x), sum = 0;
    moments *out;
    CUDA(cudaMalloc(&out, 4 * sizeof *out));
    reduce<<<3, 128>>>(out, in, 300);
    finish<<<1, 1>>>(out, 3);
    for (float v : x)
        sum += v;
    std::vector<moments> all = take(out, 4);
    EXPECT(all[3].count == 300 && all[3].largest == (82 - 41) * 0.25f && all[3].sum == sum);
    CUDA(cudaFree(in));
}
