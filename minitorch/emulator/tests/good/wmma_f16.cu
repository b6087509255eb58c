// Tensor cores: one warp per 16x16 tile of C, B column-major.
#include "check.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void matmul(float *C, const half *A, const half *B, int N, int K)
{
    int warp = threadIdx.x / 32, row = blockIdx.y * 16, column = (blockIdx.x * 2 + warp) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + column * K + k, K);
        wmma::mma_sync(c, a, b, c);
    }
    for (int e = 0; e < c.num_elements; e++)
        c.x[e] *= 2.0f;
    wmma::store_matrix_sync(C + row * N + column, c, N, wmma::mem_row_major);
}

int main()
{
    const int M = 32, N = 64, K = 48;
    std::vector<half> a(M * K), b(N * K);
    for (int i = 0; i < M * K; i++)
        a[i] = __float2half((float)(i % 7) * 0.25f);
    for (int i = 0; i < N * K; i++)
        b[i] = __float2half((float)(i % 5) * 0.5f - 1.0f);
    half *A = upload(a), *B = upload(b);
    float *C = zeros<float>(M * N);
    matmul<<<dim3(N / 32, M / 16), 64>>>(C, A, B, N, K);
    std::vector<float> c = take(C, M * N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float want = 0;
            for (int k = 0; k < K; k++)
                want += __half2float(a[i * K + k]) * __half2float(b[j * K + k]);
            EXPECT(near(c[i * N + j], 2.0f * want, 1e-3f));
        }
    CUDA(cudaFree(A));
    CUDA(cudaFree(B));
}
