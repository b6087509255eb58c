/* cublas.c -- cuBLAS's products: checks of the arguments, then gemm.c.
 *
 * A common mistake is to pass row-major matrices with their row-major leading dimension. A leading dimension that is
 * impossible for the column-major shape is refused with a message that gives the shape, and so is a matrix that does
 * not fit in its allocation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/api/gemm.h"
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"
#include "emulator/include/cublas_v2.h"
#include "emulator/run/hooks.h"

struct cublasContext {
    cudaStream_t stream;
    cublasMath_t mode;
    bool alive;
};

static cublasStatus_t invalid(uintptr_t pc, const char *format, ...) __attribute__((format(printf, 2, 3)));
static cublasStatus_t invalid(uintptr_t pc, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    emu_error(EMU_HOST_API, (emu_site){ .pc = pc }, "cuBLAS: %s", text);
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    emu_host_only(__func__, HERE);
    if (!handle)
        return invalid(HERE, "the pointer for the handle is null");
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        return CUBLAS_STATUS_ALLOC_FAILED;
    (*handle)->alive = true;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    if (!handle || !handle->alive)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->alive = false; /* not freed, so that a later use is recognised */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    if (!handle || !handle->alive)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!emu_stream_valid(stream))
        return invalid(HERE, "cublasSetStream: the stream does not exist (was it destroyed?)");
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream)
{
    if (!handle || !handle->alive)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    if (!handle || !handle->alive)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
#define NAMED(status) [status] = #status
    static const char *const names[] = {
        NAMED(CUBLAS_STATUS_SUCCESS),          NAMED(CUBLAS_STATUS_NOT_INITIALIZED), NAMED(CUBLAS_STATUS_ALLOC_FAILED),
        NAMED(CUBLAS_STATUS_INVALID_VALUE),    NAMED(CUBLAS_STATUS_ARCH_MISMATCH),   NAMED(CUBLAS_STATUS_MAPPING_ERROR),
        NAMED(CUBLAS_STATUS_EXECUTION_FAILED), NAMED(CUBLAS_STATUS_INTERNAL_ERROR),  NAMED(CUBLAS_STATUS_NOT_SUPPORTED),
        NAMED(CUBLAS_STATUS_LICENSE_ERROR),
    };
#undef NAMED
    if ((size_t)status < sizeof names / sizeof *names && names[status])
        return names[status];
    return "unknown cuBLAS status";
}

size_t cublasGetCudartVersion(void)
{
    return CUDART_VERSION;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static size_t size_of(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : 2;
}

/* Checks element type and leading dimension of the stored rows x cols matrix, and that one live allocation holds it. */
static cublasStatus_t check_matrix(char name, const emu_matrix *x, int64_t rows, int64_t cols, uintptr_t pc)
{
    if (x->type != CUDA_R_32F && x->type != CUDA_R_16F && x->type != CUDA_R_16BF)
        return invalid(pc, "%c has element type %d: the emulator supports f32, f16 and bf16", name, (int)x->type);
    if (x->ld < (rows > 1 ? rows : 1))
        return invalid(pc,
                       "%c is stored as %lld x %lld, column-major, so its leading dimension is at least %lld, not %lld",
                       name, (long long)rows, (long long)cols, (long long)rows, (long long)x->ld);
    if (!rows || !cols)
        return CUBLAS_STATUS_SUCCESS;
    const emu_allocation *a = emu_find(x->data);
    size_t needed = ((size_t)(x->ld * (cols - 1)) + (size_t)rows) * size_of(x->type);
    if (!a || a->freed)
        return invalid(pc, "%c (%p) is %s", name, x->data, a ? "freed memory" : "not device memory");
    if ((size_t)((char *)x->data - a->begin) + needed > a->size)
        return invalid(
            pc, "%c, %lld x %lld with leading dimension %lld, needs %zu bytes, but only %td are left in its allocation",
            name, (long long)rows, (long long)cols, (long long)x->ld, needed,
            (ptrdiff_t)a->size - ((char *)x->data - a->begin));
    return CUBLAS_STATUS_SUCCESS;
}

/* Tells the trace which elements are read or written. */
static void announce(const emu_matrix *x, int64_t rows, int64_t cols, bool write, uintptr_t pc)
{
    size_t size = size_of(x->type);
    bool whole = x->ld == rows;
    for (int64_t j = 0; j < (whole ? 1 : cols); j++) {
        char *column = (char *)x->data + (size_t)(j * x->ld) * size;
        size_t bytes = (size_t)(whole ? rows * cols : rows) * size;
        EMU_CALL(touched, column, bytes, write);
        if (write)
            EMU_CALL(host_write, column, bytes);
        else
            EMU_CALL(host_read, column, bytes, pc);
    }
}

typedef struct product {
    int64_t m, n, k;
    float alpha, beta;
    emu_matrix a, b, c;
    char name[4]; /* of a, b and c, in messages */
} product;

/* The low bits of f32 operands that tensor cores do not take: 13 in TF32, and in f16, whose smaller range is left out;
 * 16 in bf16. */
static int dropped(cublasHandle_t handle, cublasComputeType_t compute)
{
    if (compute == CUBLAS_COMPUTE_32F_FAST_16BF)
        return 16;
    if (compute == CUBLAS_COMPUTE_32F_FAST_TF32 || compute == CUBLAS_COMPUTE_32F_FAST_16F)
        return 13;
    bool fast = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH || handle->mode == CUBLAS_TENSOR_OP_MATH;
    return fast && compute != CUBLAS_COMPUTE_32F_PEDANTIC ? 13 : 0;
}

static cublasStatus_t multiply(cublasHandle_t handle, product *p, cublasComputeType_t compute, uintptr_t pc)
{
    if (!handle || !handle->alive)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (emu_sticky())
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (p->m < 0 || p->n < 0 || p->k < 0)
        return invalid(pc, "negative size: m %lld, n %lld, k %lld", (long long)p->m, (long long)p->n, (long long)p->k);
    int64_t a_rows = p->a.transposed ? p->k : p->m, a_cols = p->a.transposed ? p->m : p->k;
    int64_t b_rows = p->b.transposed ? p->n : p->k, b_cols = p->b.transposed ? p->k : p->n;
    cublasStatus_t status = check_matrix(p->name[0], &p->a, a_rows, a_cols, pc);
    status = status ? status : check_matrix(p->name[1], &p->b, b_rows, b_cols, pc);
    status = status ? status : check_matrix(p->name[2], &p->c, p->m, p->n, pc);
    if (status || !p->m || !p->n)
        return status;
    const emu_allocation *used[] = { emu_find(p->a.data), emu_find(p->b.data), emu_find(p->c.data) };
    emu_api_lock();
    if (emu_not_captured(handle->stream, (emu_site){ .pc = pc }, "a product of cuBLAS") != cudaSuccess) {
        emu_api_unlock();
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    emu_operate(handle->stream, false, "a product of cuBLAS", (emu_site){ .pc = pc });
    for (int i = 0; i < 3; i++)
        emu_open(used[i]);
    if (p->k) {
        announce(&p->a, a_rows, a_cols, false, pc);
        announce(&p->b, b_rows, b_cols, false, pc);
    }
    if (p->beta != 0)
        announce(&p->c, p->m, p->n, false, pc);
    p->a.drop = p->b.drop = dropped(handle, compute);
    emu_gemm(p->m, p->n, p->k, p->alpha, p->a, p->b, p->beta, p->c);
    announce(&p->c, p->m, p->n, true, pc);
    for (int i = 0; i < 3; i++)
        emu_close(used[i]);
    emu_api_unlock();
    return CUBLAS_STATUS_SUCCESS;
}

static emu_matrix matrix(const void *data, cudaDataType type, cublasOperation_t op, int64_t ld)
{
    return (emu_matrix){ (void *)(uintptr_t)data, type, op != CUBLAS_OP_N, ld, 0 };
}

static product product_of(int64_t m, int64_t n, int64_t k, const void *alpha, const void *beta, emu_matrix a,
                          emu_matrix b, emu_matrix c)
{
    return (product){ m, n, k, *(const float *)alpha, *(const float *)beta, a, b, c, "ABC" };
}

cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                              int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda, const float *b,
                              int64_t ldb, const float *beta, float *c, int64_t ldc)
{
    product p = product_of(m, n, k, alpha, beta, matrix(a, CUDA_R_32F, op_a, lda), matrix(b, CUDA_R_32F, op_b, ldb),
                           matrix(c, CUDA_R_32F, CUBLAS_OP_N, ldc));
    return multiply(handle, &p, CUBLAS_COMPUTE_32F, HERE);
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                           const float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta,
                           float *c, int ldc)
{
    product p = product_of(m, n, k, alpha, beta, matrix(a, CUDA_R_32F, op_a, lda), matrix(b, CUDA_R_32F, op_b, ldb),
                           matrix(c, CUDA_R_32F, CUBLAS_OP_N, ldc));
    return multiply(handle, &p, CUBLAS_COMPUTE_32F, HERE);
}

/* As rows, y = alpha x op(A)^T + beta y: steps from element to element are then leading dimensions. */
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const float *alpha,
                           const float *a, int lda, const float *x, int x_step, const float *beta, float *y, int y_step)
{
    const bool plain = op == CUBLAS_OP_N;
    product p = product_of(1, plain ? m : n, plain ? n : m, alpha, beta, matrix(x, CUDA_R_32F, CUBLAS_OP_N, x_step),
                           matrix(a, CUDA_R_32F, plain ? CUBLAS_OP_T : CUBLAS_OP_N, lda),
                           matrix(y, CUDA_R_32F, CUBLAS_OP_N, y_step));
    memcpy(p.name, "xAy", sizeof p.name);
    return multiply(handle, &p, CUBLAS_COMPUTE_32F, HERE);
}

static cublasStatus_t multiply_batch(cublasHandle_t handle, product p, long long stride_a, long long stride_b,
                                     long long stride_c, int64_t count, cublasComputeType_t compute, uintptr_t pc)
{
    cublasStatus_t status =
        count < 0 ? invalid(pc, "a batch of %lld products", (long long)count) : CUBLAS_STATUS_SUCCESS;
    for (int64_t i = 0; i < count && !status; i++) {
        status = multiply(handle, &p, compute, pc);
        p.a.data = (char *)p.a.data + stride_a * (long long)size_of(p.a.type);
        p.b.data = (char *)p.b.data + stride_b * (long long)size_of(p.b.type);
        p.c.data = (char *)p.c.data + stride_c * (long long)size_of(p.c.type);
    }
    return status;
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                         int n, int k, const float *alpha, const float *a, int lda, long long stride_a,
                                         const float *b, int ldb, long long stride_b, const float *beta, float *c,
                                         int ldc, long long stride_c, int count)
{
    product p = product_of(m, n, k, alpha, beta, matrix(a, CUDA_R_32F, op_a, lda), matrix(b, CUDA_R_32F, op_b, ldb),
                           matrix(c, CUDA_R_32F, CUBLAS_OP_N, ldc));
    return multiply_batch(handle, p, stride_a, stride_b, stride_c, count, CUBLAS_COMPUTE_32F, HERE);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                            int64_t m, int64_t n, int64_t k, const float *alpha, const float *a,
                                            int64_t lda, long long stride_a, const float *b, int64_t ldb,
                                            long long stride_b, const float *beta, float *c, int64_t ldc,
                                            long long stride_c, int64_t count)
{
    product p = product_of(m, n, k, alpha, beta, matrix(a, CUDA_R_32F, op_a, lda), matrix(b, CUDA_R_32F, op_b, ldb),
                           matrix(c, CUDA_R_32F, CUBLAS_OP_N, ldc));
    return multiply_batch(handle, p, stride_a, stride_b, stride_c, count, CUBLAS_COMPUTE_32F, HERE);
}

static bool sums_in_f32(cublasComputeType_t compute)
{
    return compute >= CUBLAS_COMPUTE_32F && compute <= CUBLAS_COMPUTE_32F_FAST_TF32 && compute != 70 && compute != 71;
}

static cublasStatus_t multiply_ex(cublasHandle_t handle, product p, cublasComputeType_t compute, uintptr_t pc)
{
    return sums_in_f32(compute) && p.a.type == p.b.type ? multiply(handle, &p, compute, pc)
                                                        : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                          int n, int k, const void *alpha, const void *a, cudaDataType type_a, int lda,
                                          long long stride_a, const void *b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    if (!sums_in_f32(compute) || type_a != type_b)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    product p = product_of(m, n, k, alpha, beta, matrix(a, type_a, op_a, lda), matrix(b, type_b, op_b, ldb),
                           matrix(c, type_c, CUBLAS_OP_N, ldc));
    return multiply_batch(handle, p, stride_a, stride_b, stride_c, count, compute, HERE);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    product p = product_of(m, n, k, alpha, beta, matrix(a, type_a, op_a, lda), matrix(b, type_b, op_b, ldb),
                           matrix(c, type_c, CUBLAS_OP_N, ldc));
    return multiply_ex(handle, p, compute, HERE);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                               int64_t n, int64_t k, const void *alpha, const void *a, cudaDataType type_a, int64_t lda,
                               const void *b, cudaDataType type_b, int64_t ldb, const void *beta, void *c,
                               cudaDataType type_c, int64_t ldc, cublasComputeType_t compute,
                               cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    product p = product_of(m, n, k, alpha, beta, matrix(a, type_a, op_a, lda), matrix(b, type_b, op_b, ldb),
                           matrix(c, type_c, CUBLAS_OP_N, ldc));
    return multiply_ex(handle, p, compute, HERE);
}
