/* cuda.h -- for every .cu unit: checked CUDA calls, named launches, and the stream of all launches.
 *
 *     __global__ static void relu(float *out, const float *x, int64_t n) { ... }
 *     extern "C" void mt_relu_fwd_cuda(float *out, const float *x, int64_t n)
 *     {
 *         if (n == 0)
 *             return;                                     // an empty grid is an error in CUDA
 *         relu<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(out, x, n);
 *         MT_LAUNCHED("relu_fwd");
 *     }
 *
 * The same units are built by nvcc or by the emulator (CUDA=nvcc|emu). C files see the functions that need no CUDA
 * type. */
#pragma once

#include "core/base.h"

#ifdef __cplusplus
#include <cstdio>
#include <cuda_runtime.h>

/* MT_CUDA -- a call of the CUDA runtime that must succeed; otherwise prints file, line, call and CUDA's message, and
 * aborts. */
#define MT_CUDA(call) mt_cuda_check((int)(call), __FILE__, __LINE__, #call)

/* MT_LAUNCHED -- after each launch: a refused one (too many threads, too much shared memory) aborts here, by name. An
 * error while the kernel runs is reported by some later call; with MT_SYNC=1 in the environment it is reported here. */
#define MT_LAUNCHED(name) mt_cuda_launched(__FILE__, __LINE__, name)

/* In a skeleton's kernel MT_TODO cannot end the program, because it runs on the device: it prints the step and traps,
 * and the next call on the host fails. */
#undef MT_TODO
#define MT_TODO(step) mt_todo_anywhere(__FILE__, __LINE__, step)
static inline __host__ __device__ void mt_todo_anywhere(const char *file, int line, const char *step)
{
#if defined(__CUDA_ARCH__) && !defined(__CUEMU__) /* in the emulator a program can end from a kernel */
    printf("TODO %s: step not written yet (%s:%d)\n", step, file, line);
    __trap();
#else
    mt_todo(file, line, step);
#endif
}

extern "C" {
/* mt_cuda_stream -- the one stream of all launches, copies and fills, which therefore run in order. Copies to the host
 * wait for it. It is a blocking stream: a plain cudaMemcpy waits for it too. */
cudaStream_t mt_cuda_stream(void);
#endif

void mt_cuda_check(int error, const char *file, int line, const char *call);
void mt_cuda_launched(const char *file, int line, const char *name);

/* mt_cuda_is_emulated -- whether this is a build for the emulator, in which times are the CPU's. */
bool mt_cuda_is_emulated(void);

/* mt_cuda_sync -- wait for all launches; aborts with a message when one of them failed. */
void mt_cuda_sync(void);

MT_C_END
