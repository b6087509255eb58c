/* cublas_v2.h -- matrix products of cuBLAS, on the CPU. Names and numbers are NVIDIA's; other functions of cuBLAS are
 * not declared.
 *
 * Matrices are column-major: element (i,j) of an m x n matrix with leading dimension ld is at a[i + j * ld], ld >= m.
 *     C = alpha * op(A) * op(B) + beta * C,    op(A) m x k, op(B) k x n, C m x n
 * Sums are in f32 for all element types; with beta = 0 the old C is not read. alpha and beta are in host memory.
 */
#ifndef CUEMU_CUBLAS_V2_H
#define CUEMU_CUBLAS_V2_H

#include <stdint.h>
#include "cuda_runtime_api.h"
#include "library_types.h"

#ifdef __cplusplus
#include "cuda_bf16.h" /* as NVIDIA's does */
#include "cuda_fp16.h"
extern "C" {
#endif

typedef struct cublasContext *cublasHandle_t;

typedef enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode); /* rounds f32 operands */
const char *cublasGetStatusString(cublasStatus_t status);
size_t cublasGetCudartVersion(void);

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const float *alpha,
                           const float *a, int lda, const float *x, int x_step, const float *beta, float *y,
                           int y_step);

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                           const float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta,
                           float *c, int ldc);
cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                              int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda, const float *b,
                              int64_t ldb, const float *beta, float *c, int64_t ldc);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                         int n, int k, const float *alpha, const float *a, int lda, long long stride_a,
                                         const float *b, int ldb, long long stride_b, const float *beta, float *c,
                                         int ldc, long long stride_c, int count);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                               int64_t n, int64_t k, const void *alpha, const void *a, cudaDataType type_a, int64_t lda,
                               const void *b, cudaDataType type_b, int64_t ldb, const void *beta, void *c,
                               cudaDataType type_c, int64_t ldc, cublasComputeType_t compute,
                               cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                            int64_t m, int64_t n, int64_t k, const float *alpha, const float *a,
                                            int64_t lda, long long stride_a, const float *b, int64_t ldb,
                                            long long stride_b, const float *beta, float *c, int64_t ldc,
                                            long long stride_c, int64_t count);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                          int n, int k, const void *alpha, const void *a, cudaDataType type_a, int lda,
                                          long long stride_a, const void *b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);

#ifdef __cplusplus
}
#endif

/* Copies with steps: element i of x at x[i * step]. The pitch of a matrix is its leading dimension. */
static inline cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb)
{
    return cudaMemcpy2D(b, (size_t)ldb * (size_t)size, a, (size_t)lda * (size_t)size, (size_t)rows * (size_t)size,
                        (size_t)cols, cudaMemcpyHostToDevice)
               ? CUBLAS_STATUS_INVALID_VALUE
               : CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb)
{
    return cudaMemcpy2D(b, (size_t)ldb * (size_t)size, a, (size_t)lda * (size_t)size, (size_t)rows * (size_t)size,
                        (size_t)cols, cudaMemcpyDeviceToHost)
               ? CUBLAS_STATUS_INVALID_VALUE
               : CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetVector(int n, int size, const void *x, int x_step, void *y, int y_step)
{
    return cublasSetMatrix(1, n, size, x, x_step, y, y_step);
}
static inline cublasStatus_t cublasGetVector(int n, int size, const void *x, int x_step, void *y, int y_step)
{
    return cublasGetMatrix(1, n, size, x, x_step, y, y_step);
}

#endif
