// One block per row, a reduction that takes an operator, exp of the shifted values.
#include "check.h"
#include <cfloat>

template <class F> __device__ float block_reduce(float v, float start, F op)
{
    __shared__ float part[32];
    __syncthreads();
    for (int bits = 16; bits > 0; bits /= 2)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, bits));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : start;
    for (int bits = 16; bits > 0; bits /= 2)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, bits));
    return v;
}

__global__ void softmax(float *out, const float *in, int columns)
{
    const float *row = in + blockIdx.x * columns;
    float best = -FLT_MAX, sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        best = fmaxf(best, row[c]);
    best = block_reduce(best, -FLT_MAX, [](float a, float b) { return fmaxf(a, b); });
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        sum += __expf(row[c] - best);
    sum = block_reduce(sum, 0.0f, [](float a, float b) { return a + b; });
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[blockIdx.x * columns + c] = __fdividef(__expf(row[c] - best), sum);
}

int main()
{
    const int rows = 3, columns = 300;
    std::vector<float> x = ramp(rows * columns, 37);
    float *in = upload(x), *out = zeros<float>(rows * columns);
    softmax<<<rows, 128>>>(out, in, columns);
    std::vector<float> got = take(out, rows * columns);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < columns; c++)
            sum += exp((double)x[r * columns + c]);
        for (int c = 0; c < columns; c++)
            EXPECT(near(got[r * columns + c], (float)(exp((double)x[r * columns + c]) / sum), 1e-6f));
    }
    CUDA(cudaFree(in));
}
