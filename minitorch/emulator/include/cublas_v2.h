/* cublas_v2.h -- the part of cuBLAS that minitorch calls, for the emulator: products go to the CPU's best kernel
 * (cuda/emulated/cublas.cu). Names and numbers are NVIDIA's. What is not here does not compile, and is so refused by name. */
#ifndef CUEMU_CUBLAS_V2_H
#define CUEMU_CUBLAS_V2_H

#include <cstdint>
#include <cuda_runtime.h>

typedef struct cublasContext *cublasHandle_t;
typedef enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
} cublasStatus_t;
typedef enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 } cublasOperation_t;

extern "C" {
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);

/* C = alpha op(A) op(B) + beta C, column-major; alpha must be 1, beta 0 or 1. */
cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                              int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda, const float *b,
                              int64_t ldb, const float *beta, float *c, int64_t ldc);
}

#endif
