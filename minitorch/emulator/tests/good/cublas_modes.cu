// A product of f32 has f32's digits, except in the modes that round its operands for tensor cores.
#include "check.h"

#include <cublas_v2.h>

static float square(cublasHandle_t handle, const float *x, cublasComputeType_t compute)
{
    const float one = 1, zero = 0;
    float *out = zeros<float>(1);
    EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, CUDA_R_32F, 1, x, CUDA_R_32F, 1, &zero, out,
                        CUDA_R_32F, 1, compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
    return take(out, 1)[0];
}

int main()
{
    const float x = 1 + 0x1p-12f + 0x1p-14f, tf32 = 1, exact = x * x;
    float *in = zeros<float>(1);
    cudaMemcpy(in, &x, sizeof x, cudaMemcpyHostToDevice);
    cublasHandle_t handle;
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT(square(handle, in, CUBLAS_COMPUTE_32F) == exact);
    EXPECT(square(handle, in, CUBLAS_COMPUTE_32F_FAST_TF32) == tf32);
    EXPECT(square(handle, in, CUBLAS_COMPUTE_32F_FAST_16BF) == 1);
    EXPECT(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS);
    EXPECT(square(handle, in, CUBLAS_COMPUTE_32F) == tf32);
    EXPECT(square(handle, in, CUBLAS_COMPUTE_32F_PEDANTIC) == exact);
    EXPECT(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH) == CUBLAS_STATUS_SUCCESS);
    EXPECT(square(handle, in, CUBLAS_COMPUTE_32F) == exact);
    const float one = 1, zero = 0; /* with sizes of 64 bits */
    float *out = zeros<float>(2);
    EXPECT(cublasGemmEx_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, in, CUDA_R_32F, 1ll << 32, in, CUDA_R_32F,
                           1ll << 32, &zero, out, CUDA_R_32F, 1ll << 32, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSgemmStridedBatched_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, in, 1ll << 32, 0, in, 1, 0,
                                        &zero, out + 1, 1, 1, 1) == CUBLAS_STATUS_SUCCESS);
    EXPECT(take(out, 2) == (std::vector<float>{ exact, exact }));
    EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    CUDA(cudaFree(in));
}
