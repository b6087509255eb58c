/* calls_07.c -- how the worker calls the products of lab 07 and the linear layer; arrays are on the device here
 * (on_device.c). And the functions that units use of parts of the framework that a worker does not link. */
#include "emulator/include/cublas_v2.h"
#include "cuda/matmul_cuda.h"
#include "worker/on_device.h"
#include "worker/product.h"

#include <stdio.h>

/* From cuda/cuda.h (see on_device.c) and cuda/cublas.h, which only .cu units can include. */
void mt_cuda_check(int error, const char *file, int line, const char *call);
void mt_cublas_check(int status, const char *file, int line, const char *call);
cublasHandle_t mt_cublas(void);
cudaStream_t mt_cuda_stream(void);

/* ---- given to the units: cuda/cublas.h and the product of the kernel table ---------------------------- */

cublasHandle_t mt_cublas(void)
{
    static cublasHandle_t handle;
    if (!handle) {
        mt_cublas_check(cublasCreate(&handle), __FILE__, __LINE__, "cublasCreate");
        mt_cublas_check(cublasSetStream(handle, mt_cuda_stream()), __FILE__, __LINE__, "cublasSetStream");
    }
    return handle;
}

/* Reported as a CUDA error, which ends the call but not the worker. */
void mt_cublas_check(int status, const char *file, int line, const char *call)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "cublas: %s\n", cublasGetStatusString((cublasStatus_t)status));
        mt_cuda_check(cudaErrorInvalidValue, file, line, call);
    }
}

/* For linear.cu: a product that is independent of the units. */
void mt_matmul_cuda(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                    mt_trans trans_b, mt_write write)
{
    const float one = 1, beta = write == MT_ACCUMULATE ? 1 : 0;
    if (M * N == 0)
        return;
    int64_t lda = mt_max(1, trans_a ? M : K), ldb = mt_max(1, trans_b ? K : N);
    mt_cublas_check(cublasSgemm_64(mt_cublas(), trans_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   trans_a ? CUBLAS_OP_T : CUBLAS_OP_N, N, M, K, &one, b, ldb, a, lda, &beta, c, N),
                    __FILE__, __LINE__, "mt_matmul_cuda");
}

/* ---- the calls --------------------------------------------------------------------------------------- */

// clang-format off
#define PRODUCTS(CALL)               \
    CALL(mt_matmul_naive_cuda)       \
    CALL(mt_matmul_coalesced_cuda)   \
    CALL(mt_matmul_shared_cuda)      \
    CALL(mt_matmul_register_cuda)    \
    CALL(mt_matmul_pipelined_cuda)   \
    CALL(mt_matmul_tensor_f16_cuda)  \
    CALL(mt_matmul_tensor_bf16_cuda) \
    CALL(mt_matmul_cublas)
#define CALLS(CALL)                                                                      \
    CALL(mt_linear_fwd_cuda, F(out), F(x), F(w), F(b), N(N), N(I), N(O))                 \
    CALL(mt_linear_bwd_cuda, F(dx), F(dw), F(db), F(dout), F(x), F(w), N(N), N(I), N(O))
PRODUCTS(MG_PRODUCT_THUNK)
CALLS(MG_THUNK)

const mg_function mg_calls_07[] = { PRODUCTS(MG_ENTRY) CALLS(MG_ENTRY) { NULL, NULL } };
