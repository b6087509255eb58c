// Gather rows, scatter-add their gradients; 2D blocks; int64_t sizes.
#include "check.h"
#include <cstdint>

__global__ void gather(float *out, const float *table, const int *index, int64_t n, int64_t width)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, r = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (r < n && c < width)
        out[r * width + c] = table[index[r] * width + c];
}
__global__ void scatter_add(float *table, const float *grad, const int *index, int64_t n, int64_t width)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, r = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (r < n && c < width)
        atomicAdd(&table[index[r] * width + c], grad[r * width + c]);
}

int main()
{
    const int64_t rows = 10, width = 20, n = 33;
    std::vector<float> table = ramp(rows * width), want(rows * width);
    std::vector<int> index(n);
    for (int64_t i = 0; i < n; i++)
        index[i] = (int)(i * i % rows);
    float *dt = upload(table), *out = zeros<float>(n * width), *dtable = zeros<float>(rows * width);
    int *di = upload(index);
    dim3 block(32, 4), grid(1, (unsigned)((n + 3) / 4));
    gather<<<grid, block>>>(out, dt, di, n, width);
    scatter_add<<<grid, block>>>(dtable, out, di, n, width);
    std::vector<float> got = take(dtable, rows * width);
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < width; c++)
            want[index[r] * width + c] += table[index[r] * width + c];
    for (int64_t i = 0; i < rows * width; i++)
        EXPECT(near(got[i], want[i], 1e-4f));
    CUDA(cudaFree(dt));
    CUDA(cudaFree(di));
    CUDA(cudaFree(out));
}
