/* precision.cu -- mixed precision on the device: conversions between f32 and 16 bits, and cuBLAS's product of 16-bit
 * matrices; and the device's table of amp/kernels_16bit.h.
 *
 * A thread converts one number; the lanes of a warp access consecutive numbers, of 4 and 2 bytes. The conversions are
 * machine instructions, which round to nearest, ties to even, and keep subnormals; every NaN becomes the canonical NaN.
 * */
#include "cuda/cublas.h"
#include "amp/kernels_16bit.h"
#include "cuda/kernels.h"
#include "cuda/launch.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class To, class From> static __global__ void convert(To *out, const From *x, int64_t n)
{
    int64_t i = mt_thread();
    if (i < n)
        out[i] = To(float(x[i]));
}

template <class To> static void launch_to(void *out, const void *x, mt_dtype from, int64_t n)
{
    To *to = (To *)out;
    if (from == MT_F32)
        MT_LAUNCH_EACH("convert", convert, n, MT_THREADS, to, (const float *)x, n);
    else if (from == MT_F16)
        MT_LAUNCH_EACH("convert", convert, n, MT_THREADS, to, (const __half *)x, n);
    else
        MT_LAUNCH_EACH("convert", convert, n, MT_THREADS, to, (const __nv_bfloat16 *)x, n);
}

extern "C" void mt_convert_cuda(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n)
{
    MT_CHECK((to == MT_F32 || mt_is_16bit(to)) && (from == MT_F32 || mt_is_16bit(from)),
             "convert: dtypes %d to %d: both must be f32, f16 or bf16", (int)from, (int)to);
    if (to == MT_F32)
        launch_to<float>(out, x, from, n);
    else if (to == MT_F16)
        launch_to<__half>(out, x, from, n);
    else
        launch_to<__nv_bfloat16>(out, x, from, n);
}

/* cuBLAS's matrices are column-major, so it computes C^T = B^T A^T (solutions/07-cuda-matmul/cublas.cu). */
extern "C" void mt_matmul16_cuda(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("cublas matmul16", d);
    MT_CHECK(mt_is_16bit(dtype), "matmul16: dtype %d: the operands must be f16 or bf16", (int)dtype);
    MT_CHECK(d->M <= INT32_MAX && d->N <= INT32_MAX && d->K <= INT32_MAX && d->lda <= INT32_MAX &&
                 d->ldb <= INT32_MAX && d->ldc <= INT32_MAX,
             "matmul16: cuBLAS takes sizes below 2^31, here M=%lld N=%lld K=%lld", (long long)d->M, (long long)d->N,
             (long long)d->K);
    if (d->M * d->N == 0)
        return;
    const float one = 1, beta = d->write == MT_ACCUMULATE ? 1 : 0;
    const cudaDataType type = dtype == MT_F16 ? CUDA_R_16F : CUDA_R_16BF;
    cublasOperation_t op_a = d->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = d->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    MT_CUBLAS(cublasGemmEx(mt_cublas(), op_b, op_a, (int)d->N, (int)d->M, (int)d->K, &one, b, type,
                           (int)mt_max(1, d->ldb), a, type, (int)mt_max(1, d->lda), &beta, c, CUDA_R_32F, (int)d->ldc,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

#define ENTRY(name) mt_##name##_cuda,

extern "C" const mt_16bit_table mt_16bit_cuda = { MT_16BIT_KERNELS(ENTRY) };
