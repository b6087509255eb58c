// A cooperative launch: blocks read what others wrote before a barrier of the grid.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

/* out[0] = sum of x: each block its part, then the first block the parts. Shared memory keeps its values over it. */
__global__ void sum(const float *x, float *parts, float *out, int n)
{
    __shared__ float s[64];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    float own = 0;
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size())
        own += x[i];
    s[threadIdx.x] = own;
    block.sync();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
        block.sync();
    }
    if (threadIdx.x == 0)
        parts[blockIdx.x] = s[0];
    grid.sync();
    float all = 0;
    for (int b = 0; b < gridDim.x; b++)
        all += parts[b];
    if (threadIdx.x == 0 && s[0] != parts[blockIdx.x])
        all = -1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

/* Steps of a diffusion: two arrays, exchanged at each barrier. */
template <class T> __global__ void diffuse(T *a, T *b, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < steps; step++) {
        if (i < n)
            b[i] = (a[i > 0 ? i - 1 : 0] + 2 * a[i] + a[i < n - 1 ? i + 1 : n - 1]) / 4;
        cg::sync(cg::this_grid());
        T *swap = a;
        a = b;
        b = swap;
    }
}

int main()
{
    int n = 1000, blocks = 5, steps = 7, per_processor = 0, cooperative = 0;
    std::vector<float> x = ramp(n), y = x;
    float *in = upload(x), *parts = zeros<float>(blocks), *out = zeros<float>(blocks * 64), total = 0;
    CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, sum, 64, 0));
    EXPECT(cooperative && per_processor > 0);
    void *arguments[] = { &in, &parts, &out, &n };
    CUDA(cudaLaunchCooperativeKernel((void *)sum, dim3(blocks), dim3(64), arguments, 0, 0));
    for (float value : x)
        total += value;
    for (float value : take(out, blocks * 64))
        EXPECT(value == total);

    float *a = upload(x), *b = zeros<float>(n);
    void *both[] = { &a, &b, &n, &steps };
    CUDA(cudaLaunchCooperativeKernel(diffuse<float>, 8, 128, both));
    for (int step = 0; step < steps; step++, x = y)
        for (int i = 0; i < n; i++)
            y[i] = (x[i > 0 ? i - 1 : 0] + 2 * x[i] + x[i < n - 1 ? i + 1 : n - 1]) / 4;
    std::vector<float> got = take(b, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == y[i]);

    CUDA(cudaFree(a));
    CUDA(cudaFree(in));
    CUDA(cudaFree(parts));
}
