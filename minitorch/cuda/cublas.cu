/* cublas.cu -- the message of a failed call, see cuda/cublas.h. The product by cuBLAS: unit cublas.cu of lab 07. */
#include "cuda/cublas.h"

extern "C" void mt_cublas_check(int status, const char *file, int line, const char *call)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        mt_check_failed(file, line, call, "cublas: %s", cublasGetStatusString((cublasStatus_t)status));
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
