// A padded shared tile, template parameters, several barriers.
#include "check.h"

template <int TILE, int ROWS> __global__ void transpose(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n)
            out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int n = 77;
    std::vector<float> x = ramp(n * n, 101);
    float *in = upload(x), *out = zeros<float>(n * n);
    transpose<32, 8><<<dim3(3, 3), dim3(32, 8)>>>(out, in, n);
    std::vector<float> got = take(out, n * n);
    CUDA(cudaFree(in));
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++)
            EXPECT(got[c * n + r] == x[r * n + c]);
}
