// arch: 80
// The flat shapes, bf16, both layouts, tiles in shared memory.
#include "check.h"
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda::wmma;

template <int M, int N, class LA, class LB>
__global__ void product(float *C, const __nv_bfloat16 *A, const __nv_bfloat16 *B, int lda, int ldb)
{
    __shared__ __align__(32) __nv_bfloat16 tile[M * 16];
    for (int i = threadIdx.x; i < M * 16; i += 32)
        tile[i] = A[i];
    __syncwarp();
    fragment<matrix_a, M, N, 16, __nv_bfloat16, LA> a;
    fragment<matrix_b, M, N, 16, __nv_bfloat16, LB> b;
    fragment<accumulator, M, N, 16, float> c;
    load_matrix_sync(c, C, M, mem_col_major);
    load_matrix_sync(a, tile, lda);
    load_matrix_sync(b, B, ldb);
    mma_sync(c, a, b, c);
    store_matrix_sync(C, c, M, mem_col_major);
}

template <int M, int N, bool A_ROWS, bool B_ROWS, class LA, class LB> void run()
{
    std::vector<__nv_bfloat16> a(M * 16), b(16 * N);
    for (int i = 0; i < M * 16; i++)
        a[i] = __float2bfloat16((float)(i % 9) - 4.0f);
    for (int i = 0; i < 16 * N; i++)
        b[i] = __float2bfloat16((float)(i % 11) * 0.5f);
    __nv_bfloat16 *A = upload(a), *B = upload(b);
    float *C = upload(std::vector<float>(M * N, 1.0f));
    product<M, N, LA, LB><<<1, 32>>>(C, A, B, A_ROWS ? 16 : M, B_ROWS ? N : 16);
    std::vector<float> c = take(C, M * N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float want = 1;
            for (int k = 0; k < 16; k++)
                want += __bfloat162float(a[A_ROWS ? i * 16 + k : k * M + i]) *
                        __bfloat162float(b[B_ROWS ? k * N + j : j * 16 + k]);
            EXPECT(near(c[j * M + i], want, 1e-3f));
        }
    CUDA(cudaFree(A));
    CUDA(cudaFree(B));
}

int main()
{
    run<16, 16, true, true, row_major, row_major>();
    run<16, 16, false, false, col_major, col_major>();
    run<32, 8, true, false, row_major, col_major>();
    run<8, 32, false, true, col_major, row_major>();
}
