/* cuda.h -- for programs that include it and use nothing of it: the driver API is not emulated. */
#ifndef CUEMU_CUDA_H
#define CUEMU_CUDA_H
#define CUDA_VERSION 13000
#include "cuda_runtime_api.h"
#endif
