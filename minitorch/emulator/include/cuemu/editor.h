/* editor.h -- how clangd reads a .cu file: as CUDA with the emulator's headers.
 *
 * What cuemu's translator handles must be declared here: clang's attributes for __global__ and the like, the built-in
 * variables, the function that clang calls for a launch. Kernels may call every function of the headers. */
#ifndef CUEMU_EDITOR_H
#define CUEMU_EDITOR_H

#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __host__               __attribute__((host))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __managed__

#pragma clang force_cuda_host_device begin
extern "C" {
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
}
#pragma clang force_cuda_host_device end
#include <new> /* outside of the region: it declares for which side its operators are */
#pragma clang force_cuda_host_device begin
#include <cuda_runtime.h>

extern __device__ const uint3 threadIdx, blockIdx;
extern __device__ const dim3 blockDim, gridDim;
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);

#endif
