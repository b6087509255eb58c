/* expect.h -- for the tests of the emulator's core: copies of results from the device, and a line per check. */
#pragma once
#include <cstdio>
#include <cstring>
#include <vector>

static int failures;

#define EXPECT(name, condition)                         \
    do {                                                \
        bool holds = (condition);                       \
        printf("%s %s\n", holds ? "ok" : "FAIL", name); \
        failures += !holds;                             \
    } while (0)

/* Device memory that frees itself. */
template <class T> struct buffer {
    T *data;
    size_t count;
    explicit buffer(size_t n) : count(n)
    {
        cudaMalloc(&data, n * sizeof(T));
        cudaMemset(data, 0, n * sizeof(T));
    }
    explicit buffer(const std::vector<T> &from) : buffer(from.size())
    {
        cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    buffer(const buffer &) = delete;
    ~buffer()
    {
        cudaFree(data);
    }
    std::vector<T> read() const
    {
        std::vector<T> out(count);
        cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
        return out;
    }
};

/* Do all elements equal f(i)? */
template <class T, class F> static bool all_are(const std::vector<T> &v, F f)
{
    for (size_t i = 0; i < v.size(); i++)
        if (v[i] != (T)f((int)i))
            return false;
    return true;
}
