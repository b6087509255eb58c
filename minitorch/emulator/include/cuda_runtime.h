/* cuda_runtime.h -- CUDA C++ for the CPU: what nvcc includes before the first line of every .cu file, and so does
 * cuemu.
 *
 * The preprocessor leaves launches, __shared__ and the marks of functions to the translator. Device functions are
 * always_inline wrappers of runtime.h, whose functions find the source line from their return address. */
#ifndef CUEMU_CUDA_RUNTIME_H
#define CUEMU_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#include "vector_types.h"

#ifdef __cplusplus

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "cuemu/runtime.h"

#define __CUEMU__     1
#define __CUDACC__    1
#define __CUDA_ARCH__ 900
#define __NVCC__      1

#define __CUDA_RUNTIME_H__ /* programs test it to know whether this was included */

#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0

/* __global__, __device__ and similar words are handled by the translator. */
#define __grid_constant__
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))

#define CUEMU_INLINE static inline __attribute__((always_inline))
#define CUEMU_MEMBER inline __attribute__((always_inline))
#ifdef __clang__ /* runs untraced code only */
#define CUEMU_UNTRACED
#else
#define CUEMU_UNTRACED __attribute__((no_sanitize_thread, no_sanitize_coverage))
#endif
#define CUEMU_CAT_(a, b) a##b
#define CUEMU_CAT(a, b)  CUEMU_CAT_(a, b)

namespace cuemu
{
template <class T> struct identity {
    typedef T type;
};
template <class T> using same = typename identity<T>::type; /* an argument that takes no part in deduction */
} // namespace cuemu

enum { warpSize = 32 };

/* Called first in a kernel that is declared with __launch_bounds__(threads, ...). */
CUEMU_INLINE void cuemu_launch_bounds(long long threads, int = 0, int = 0)
{
    cuemu_launch_bound(threads);
}

/* The number of threads among the arguments of __launch_bounds__. */
constexpr long long cuemu_bounded(long long threads, int = 0, int = 0)
{
    return threads;
}

#include "cuemu/launch.h"
#include "cuemu/api.h"
#include "cuemu/graph_api.h"
#include "cuemu/atomic.h"
#include "cuemu/warp.h"
#include "cuemu/math.h"
#include "cuemu/simd.h"
#include "cuemu/minmax.h"
#include "cuemu/ptx.h"
#include "cuemu/texture.h"

#endif
#endif
