// Matrix functions wait for all lanes, but order no accesses to memory: a load after the lanes' stores, and reads of
// what store_matrix_sync stored, need a __syncwarp() between them.
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void squares(float *out)
{
    __shared__ __align__(32) half tile[256];
    __shared__ __align__(32) float sums[256];
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[i] = __float2half(i % 3);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, tile, 16); // BUG: race
    wmma::load_matrix_sync(b, tile, 16); // BUG: race
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(sums, c, 16, wmma::mem_row_major); // BUG: race
    for (int i = threadIdx.x; i < 256; i += 32)
        out[i] = sums[i]; // BUG: race uninitialised
}

int main()
{
    float *out;
    cudaMalloc(&out, 256 * sizeof(float));
    squares<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
