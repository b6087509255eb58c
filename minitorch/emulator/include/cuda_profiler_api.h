/* cuda_profiler_api.h -- the emulator counts always: these do nothing. */
#ifndef CUEMU_CUDA_PROFILER_API_H
#define CUEMU_CUDA_PROFILER_API_H
#include "cuda_runtime_api.h"
static inline cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}
static inline cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}
#endif
