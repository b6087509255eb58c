// A warp per row, several rows per block.
#include "check.h"

__global__ void layernorm(float *out, const float *in, const float *gamma, int rows, int columns)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    const float *x = in + row * columns;
    float mean = 0, spread = 0;
    for (int c = lane; c < columns; c += 32)
        mean += x[c];
    for (int bits = 16; bits; bits >>= 1)
        mean += __shfl_xor_sync(0xffffffffu, mean, bits);
    mean /= (float)columns;
    for (int c = lane; c < columns; c += 32)
        spread += (x[c] - mean) * (x[c] - mean);
    for (int bits = 16; bits; bits >>= 1)
        spread += __shfl_xor_sync(0xffffffffu, spread, bits);
    float scale = rsqrtf(spread / (float)columns + 1e-5f);
    for (int c = lane; c < columns; c += 32)
        out[row * columns + c] = (x[c] - mean) * scale * gamma[c];
}

int main()
{
    const int rows = 5, columns = 70;
    std::vector<float> x = ramp(rows * columns, 31), gamma = ramp(columns);
    float *in = upload(x), *g = upload(gamma), *out = zeros<float>(rows * columns);
    layernorm<<<2, dim3(32, 4)>>>(out, in, g, rows, columns);
    std::vector<float> got = take(out, rows * columns);
    for (int r = 0; r < rows; r++) {
        double mean = 0, spread = 0;
        for (int c = 0; c < columns; c++)
            mean += x[r * columns + c] / (double)columns;
        for (int c = 0; c < columns; c++)
            spread += pow(x[r * columns + c] - mean, 2) / columns;
        for (int c = 0; c < columns; c++)
            EXPECT(near(got[r * columns + c], (float)((x[r * columns + c] - mean) / sqrt(spread + 1e-5)) * gamma[c],
                        1e-4f));
    }
    CUDA(cudaFree(in));
    CUDA(cudaFree(g));
}
