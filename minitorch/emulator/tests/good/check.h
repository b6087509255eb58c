/* check.h -- for the programs of good/: copies of arrays to the device and back, and the check of the result. */
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define EXPECT(condition) ((condition) ? (void)0 : expect_failed(__FILE__, __LINE__, #condition))
#define CUDA(call)        cuda_check(call, __FILE__, __LINE__)

static inline void expect_failed(const char *file, int line, const char *condition)
{
    printf("%s:%d: %s does not hold\n", file, line, condition);
    exit(1);
}

static inline void cuda_check(cudaError_t error, const char *file, int line)
{
    if (error != cudaSuccess)
        expect_failed(file, line, cudaGetErrorString(error));
}

template <class T> T *upload(const std::vector<T> &values)
{
    T *device = nullptr;
    CUDA(cudaMalloc(&device, values.size() * sizeof(T)));
    CUDA(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <class T> T *zeros(size_t n)
{
    return upload(std::vector<T>(n));
}

/* The values, after all launches; the device's memory is freed. */
template <class T> std::vector<T> take(T *device, size_t n)
{
    std::vector<T> values(n);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(values.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(device));
    return values;
}

/* 0, 1, ... in small steps: sums of a few thousand are exact in float. */
static inline std::vector<float> ramp(size_t n, int period = 17)
{
    std::vector<float> values(n);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)((int)(i % period) - period / 2) * 0.25f;
    return values;
}

static inline bool near(float a, float b, float tolerance)
{
    return fabsf(a - b) <= tolerance;
}
