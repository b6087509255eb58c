/* cublas.cu -- the handle of cuda/cublas.h. */
#include "cuda/cublas.h"

extern "C" void mt_cublas_check(int status, const char *file, int line, const char *call)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        mt_check_failed(file, line, call, "cublas: %s", cublasGetStatusString((cublasStatus_t)status));
}

/* What cuBLAS calls C, A and B are our transposes: see solutions/07-cuda-matmul/cublas.cu. */
extern "C" void mt_cublas_bf16(float *c, const uint16_t *a, const uint16_t *b, int n)
{
    const float one = 1, zero = 0;
    MT_CUBLAS(cublasGemmEx(mt_cublas(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, CUDA_R_16BF, n, a, CUDA_R_16BF, n,
                           &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

extern "C" cublasHandle_t mt_cublas(void)
{
    static cublasHandle_t handle;
    if (!handle) {
        MT_CUBLAS(cublasCreate(&handle));
        MT_CUBLAS(cublasSetStream(handle, mt_cuda_stream()));
    }
    return handle;
}
