// A 2D grid with partial blocks at the edges.
#include "check.h"

__global__ void transpose(float *out, const float *in, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns)
        out[c * rows + r] = in[r * columns + c];
}

int main()
{
    const int rows = 45, columns = 70;
    std::vector<float> x = ramp(rows * columns, 97);
    float *in = upload(x), *out = zeros<float>(rows * columns);
    dim3 block(16, 16), grid((columns + 15) / 16, (rows + 15) / 16);
    transpose<<<grid, block>>>(out, in, rows, columns);
    std::vector<float> got = take(out, rows * columns);
    CUDA(cudaFree(in));
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            EXPECT(got[c * rows + r] == x[r * columns + c]);
}
