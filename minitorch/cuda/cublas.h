/* cublas.h -- the one cuBLAS handle, bound to mt_cuda_stream(). The emulator has its own cuBLAS, on the CPU. */
#pragma once

#include "cuda/cuda.h"

#include <cublas_v2.h>

/* MT_CUBLAS -- a cuBLAS call that must succeed; otherwise prints file, line, call and status, and aborts. */
#define MT_CUBLAS(call) mt_cublas_check((int)(call), __FILE__, __LINE__, #call)

MT_C_BEGIN

/* mt_cublas -- the handle, created at the first call. */
cublasHandle_t mt_cublas(void);

void mt_cublas_check(int status, const char *file, int line, const char *call);

MT_C_END
