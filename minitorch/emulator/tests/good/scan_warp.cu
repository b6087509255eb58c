// A scan by shuffles within warps, then over the warps' sums.
#include "check.h"

__device__ int warp_scan(int v)
{
    int lane = threadIdx.x & 31;
    for (int step = 1; step < 32; step *= 2) {
        int below = __shfl_up_sync(0xffffffffu, v, step);
        if (lane >= step)
            v += below;
    }
    return v;
}

__global__ void scan(int *out, const int *in)
{
    __shared__ int sums[8];
    int t = threadIdx.x, v = warp_scan(in[t]);
    if (t % 32 == 31)
        sums[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        int s = warp_scan(t < 8 ? sums[t] : 0);
        if (t < 8)
            sums[t] = s;
    }
    __syncthreads();
    out[t] = v + (t >= 32 ? sums[t / 32 - 1] : 0);
}

int main()
{
    std::vector<int> x(256);
    for (int i = 0; i < 256; i++)
        x[i] = i * i % 11;
    int *in = upload(x), *out = zeros<int>(256), sum = 0;
    scan<<<1, 256>>>(out, in);
    std::vector<int> got = take(out, 256);
    for (int i = 0; i < 256; i++)
        EXPECT(got[i] == (sum += x[i]));
    CUDA(cudaFree(in));
}
