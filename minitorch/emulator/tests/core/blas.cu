// blas.cu -- the cuBLAS functions against a plain triple loop in double.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
#include "expect.h"

static float value(int seed, int i)
{
    return (float)((i * 37 + seed * 101) % 17 - 8) / 8; // exact in every type
}

template <class T> static std::vector<T> matrix(int seed, int count)
{
    std::vector<T> m(count);
    for (int i = 0; i < count; i++)
        m[i] = (T)value(seed, i);
    return m;
}

// One product of matrices with leading dimensions larger than necessary; exact, because the sums are small.
template <class T, class C>
static bool agrees(cublasHandle_t handle, cudaDataType type, cudaDataType type_c, int m, int n, int k, bool ta, bool tb,
                   float beta)
{
    int lda = (ta ? k : m) + 3, ldb = (tb ? n : k) + 1, ldc = m + 2;
    std::vector<T> a = matrix<T>(1, lda * (ta ? m : k) + 1), b = matrix<T>(2, ldb * (tb ? k : n) + 1);
    std::vector<C> c = matrix<C>(3, ldc * n + 1);
    buffer<T> da(a), db(b);
    buffer<C> dc(c);
    float alpha = 0.5f;
    cublasStatus_t status = cublasGemmEx(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n,
                                         k, &alpha, da.data, type, lda, db.data, type, ldb, &beta, dc.data, type_c, ldc,
                                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    std::vector<C> got = dc.read();
    double worst = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < ldc; i++) {
            double want = (float)c[i + j * ldc];
            if (i < m) {
                want *= beta;
                for (int p = 0; p < k; p++)
                    want += 0.5 * (float)a[ta ? p + i * lda : i + p * lda] * (float)b[tb ? j + p * ldb : p + j * ldb];
            }
            worst = std::fmax(worst, std::fabs((float)got[i + j * ldc] - want) / (1 + std::fabs(want)));
        }
    }
    return status == CUBLAS_STATUS_SUCCESS && worst <= (sizeof(C) == 4 ? 0 : 1.0 / 256);
}

int main()
{
    cublasHandle_t handle;
    EXPECT("create", cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    const int sizes[][3] = { { 1, 1, 1 }, { 5, 3, 7 }, { 33, 31, 0 }, { 130, 129, 257 }, { 16, 200, 300 } };
    bool f32 = true, f16 = true, bf16 = true;
    for (auto &s : sizes) {
        for (int op = 0; op < 8; op++) {
            bool ta = op & 1, tb = op & 2;
            float beta = op & 4 ? 1 : 0;
            f32 &= agrees<float, float>(handle, CUDA_R_32F, CUDA_R_32F, s[0], s[1], s[2], ta, tb, beta);
            f16 &= agrees<__half, float>(handle, CUDA_R_16F, CUDA_R_32F, s[0], s[1], s[2], ta, tb, beta);
            f16 &= agrees<__half, __half>(handle, CUDA_R_16F, CUDA_R_16F, s[0], s[1], s[2], ta, tb, beta);
            bf16 &=
                agrees<__nv_bfloat16, __nv_bfloat16>(handle, CUDA_R_16BF, CUDA_R_16BF, s[0], s[1], s[2], ta, tb, beta);
        }
    }
    EXPECT("f32", f32);
    EXPECT("f16", f16);
    EXPECT("bf16", bf16);

    const float one = 1, zero = 0;
    std::vector<float> ones(3 * 4, 1);
    buffer<float> a(ones), b(ones), c(3 * 4);
    EXPECT("batched", cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a.data, 2, 4, b.data,
                                                2, 4, &zero, c.data, 2, 4, 3) == CUBLAS_STATUS_SUCCESS &&
                          all_are(c.read(), [](int) { return 2; }));

    // y = 2 op(A) x + y, A = [[1, 2, 3], [4, 5, 6]] with a leading dimension of 3, every second element of x.
    buffer<float> wide(std::vector<float>{ 1, 4, 9, 2, 5, 9, 3, 6 }), x(std::vector<float>{ 1, 9, -1, 9, 2 });
    buffer<float> y(std::vector<float>{ 10, 20, 30 });
    const float two = 2;
    cublasSgemv(handle, CUBLAS_OP_N, 2, 3, &two, wide.data, 3, x.data, 2, &one, y.data, 2);
    EXPECT("gemv", (y.read() == std::vector<float>{ 20, 20, 52 })); // 2 (1 - 2 + 6), 2 (4 - 5 + 12)
    cublasSgemv(handle, CUBLAS_OP_T, 2, 3, &two, wide.data, 3, x.data, 2, &zero, y.data, 1);
    EXPECT("gemv, transposed", (y.read() == std::vector<float>{ -6, -6, -6 })); // 2 (1 - 4), 2 (2 - 5), 2 (3 - 6)
    EXPECT("destroy", cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT("destroyed", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a.data, 2, b.data, 2, &zero,
                                    c.data, 2) == CUBLAS_STATUS_NOT_INITIALIZED);
    return failures != 0;
}
