// Tiles in shared memory that lanes write and matrix functions read, and the other way round, with __syncwarp()
// between; a tile whose values mma_sync has used may be overwritten.
#include "check.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void squares(float *out, int rounds)
{
    __shared__ __align__(32) half tile[2][256];
    __shared__ __align__(32) float sums[2][256];
    half *x = tile[threadIdx.x / 32];
    float *sum = sums[threadIdx.x / 32];
    int lane = threadIdx.x % 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int round = 0; round < rounds; round++) {
        for (int i = lane; i < 256; i += 32)
            x[i] = __float2half((float)(round + 1));
        __syncwarp();
        wmma::load_matrix_sync(a, x, 16);
        wmma::load_matrix_sync(b, x, 16);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(sum, c, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        sum[i] += 1;
    __syncthreads();
    wmma::load_matrix_sync(c, sums[1 - threadIdx.x / 32], 16, wmma::mem_row_major);
    for (int e = 0; e < c.num_elements; e++)
        c.x[e] *= 2;
    wmma::store_matrix_sync(out + threadIdx.x / 32 * 256, c, 16, wmma::mem_row_major);
}

int main()
{
    float *out = zeros<float>(512);
    squares<<<1, 64>>>(out, 2);
    for (float x : take(out, 512))
        EXPECT(x == 2 * (16 * (1 + 4) + 1));
}
