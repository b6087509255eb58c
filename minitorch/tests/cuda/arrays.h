/* arrays.h -- for tests of CUDA kernels: random arrays on the host and their copies on the device, all freed at once.
 *
 * A copy begins `shift` floats after a multiple of 256 bytes, and its allocation ends with it: an access beyond the end
 * is out of bounds for the emulator and for compute-sanitizer. */
#pragma once

#include "cuda/cuda.h"
#include "testing/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 256 };
inline void *on_host[ARRAYS], *on_device[ARRAYS]; /* of all files of the program */
inline int host_count, device_count, failures;

static inline void *host_array(int64_t n, size_t size)
{
    MT_CHECK(host_count < ARRAYS, "too many arrays");
    void *a = calloc((size_t)n + 1, size);
    MT_CHECK(a, "out of memory");
    return on_host[host_count++] = a;
}

static inline float *numbers(uint64_t seed, int64_t n, float low, float high)
{
    MT_CHECK(host_count < ARRAYS, "too many arrays");
    float *a = mt_test_uniform(seed, n, low, high);
    on_host[host_count++] = a;
    return a;
}

template <class T> static T *to_device(const T *host, int64_t n, int shift)
{
    T *base = NULL;
    MT_CHECK(device_count < ARRAYS, "too many arrays");
    MT_CUDA(cudaMalloc((void **)&base, (size_t)(n + shift + (n + shift == 0)) * sizeof(T)));
    on_device[device_count++] = base;
    if (n > 0)
        MT_CUDA(cudaMemcpy(base + shift, host, (size_t)n * sizeof(T), cudaMemcpyHostToDevice));
    return base + shift;
}

template <class T> static T *from_device(const T *device, int64_t n)
{
    T *host = (T *)host_array(n, sizeof(T));
    MT_CUDA(cudaDeviceSynchronize());
    if (n > 0)
        MT_CUDA(cudaMemcpy(host, device, (size_t)n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

/* An array that a kernel is to overwrite: NaN until it does. */
static inline float *unwritten(int64_t n, int shift)
{
    float *nan = (float *)host_array(n, sizeof *nan);
    memset(nan, 0xff, (size_t)n * sizeof *nan);
    return to_device(nan, n, shift);
}

static inline void free_arrays(void)
{
    while (host_count > 0)
        free(on_host[--host_count]);
    while (device_count > 0)
        MT_CUDA(cudaFree(on_device[--device_count]));
}

/* The message of a comparison, or NULL for a pass. */
static inline void verdict(const char *words, const char *what, int64_t N, int64_t C)
{
    if (!words)
        return;
    printf("  %s of %lld x %lld: %s\n", what, (long long)N, (long long)C, words);
    failures++;
}
