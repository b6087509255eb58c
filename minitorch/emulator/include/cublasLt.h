/* cublasLt.h -- a handle, for programs that pass one on: products are cublas_v2.h's. */
#ifndef CUEMU_CUBLASLT_H
#define CUEMU_CUBLASLT_H
#include "cublas_v2.h"

typedef struct cublasContext *cublasLtHandle_t;

static inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate(handle);
}
static inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy(handle);
}
#endif
