/* calls_07.c -- how the worker calls the products of lab 07 (c, a, b, then the nine fields of mt_matmul_dims) and the linear
 * layer; arrays are on the device here (on_device.c). And what the units get from a framework that workers do without. */
#include "emulator/include/cublas_v2.h"
#include "ops/matmul_cuda.h"
#include "worker/call.h"

#include <stdio.h>

/* Of cuda/cuda.h (on_device.c has it) and cuda/cublas.h, which include what only .cu units can. */
void mt_cuda_check(int error, const char *file, int line, const char *call);
void mt_cublas_check(int status, const char *file, int line, const char *call);
cublasHandle_t mt_cublas(void);

/* ---- given to the units: cuda/cublas.h and the product of the kernel table ---------------------------- */

cublasHandle_t mt_cublas(void)
{
    static cublasHandle_t handle;
    if (!handle)
        mt_cublas_check(cublasCreate(&handle), __FILE__, __LINE__, "cublasCreate");
    return handle;
}

/* As a CUDA error, so that it ends the call and not the worker. */
void mt_cublas_check(int status, const char *file, int line, const char *call)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "cublas: %s\n", cublasGetStatusString((cublasStatus_t)status));
        mt_cuda_check(cudaErrorInvalidValue, file, line, call);
    }
}

/* For linear.cu: one that owes nothing to the units. */
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

static void call_with(mt_matmul_fn *function, const mg_value *v)
{
    const mt_matmul_dims dims = {
        .M = v[3].i64,
        .N = v[4].i64,
        .K = v[5].i64,
        .lda = v[6].i64,
        .ldb = v[7].i64,
        .ldc = v[8].i64,
        .trans_a = v[9].i64 ? MT_TRANS : MT_NO_TRANS,
        .trans_b = v[10].i64 ? MT_TRANS : MT_NO_TRANS,
        .write = v[11].i64 ? MT_ACCUMULATE : MT_OVERWRITE,
    };
    function(v[0].f32, v[1].f32, v[2].f32, &dims);
}

static void naive(const mg_value *v)
{
    call_with(mt_matmul_naive_cuda, v);
}

static void coalesced(const mg_value *v)
{
    call_with(mt_matmul_coalesced_cuda, v);
}

static void shared(const mg_value *v)
{
    call_with(mt_matmul_shared_cuda, v);
}

static void registers(const mg_value *v)
{
    call_with(mt_matmul_register_cuda, v);
}

static void pipelined(const mg_value *v)
{
    call_with(mt_matmul_pipelined_cuda, v);
}

static void tensor_f16(const mg_value *v)
{
    call_with(mt_matmul_tensor_f16_cuda, v);
}

static void tensor_bf16(const mg_value *v)
{
    call_with(mt_matmul_tensor_bf16_cuda, v);
}

static void cublas(const mg_value *v)
{
    call_with(mt_matmul_cublas, v);
}

static void linear_fwd(const mg_value *v)
{
    mt_linear_fwd_cuda(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].i64, v[5].i64, v[6].i64);
}

static void linear_bwd(const mg_value *v)
{
    mt_linear_bwd_cuda(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].f32, v[5].f32, v[6].i64, v[7].i64, v[8].i64);
}

const mg_function mg_calls_07[] = {
    { "mt_matmul_naive_cuda", naive },
    { "mt_matmul_coalesced_cuda", coalesced },
    { "mt_matmul_shared_cuda", shared },
    { "mt_matmul_register_cuda", registers },
    { "mt_matmul_pipelined_cuda", pipelined },
    { "mt_matmul_tensor_f16_cuda", tensor_f16 },
    { "mt_matmul_tensor_bf16_cuda", tensor_bf16 },
    { "mt_matmul_cublas", cublas },
    { "mt_linear_fwd_cuda", linear_fwd },
    { "mt_linear_bwd_cuda", linear_bwd },
    { 0 },
};
