/* vector_types.h -- float4 and similar types with CUDA's alignments, make_float4(), dim3. */
#ifndef CUEMU_VECTOR_TYPES_H
#define CUEMU_VECTOR_TYPES_H

#include "cuemu/runtime.h"

typedef cuemu_uint3 uint3;

#ifndef __cplusplus
typedef cuemu_uint3 dim3;
#else

#define CUEMU_VECTOR(T, name, align2, align4)                          \
    struct name##1                                                     \
    {                                                                  \
        T x;                                                           \
    };                                                                 \
    struct alignas(align2) name##2                                     \
    {                                                                  \
        T x, y;                                                        \
    };                                                                 \
    struct alignas(align4) name##4                                     \
    {                                                                  \
        T x, y, z, w;                                                  \
    };                                                                 \
    static inline constexpr name##1 make_##name##1(T x)                \
    {                                                                  \
        return name##1 { x };                                          \
    }                                                                  \
    static inline constexpr name##2 make_##name##2(T x, T y)           \
    {                                                                  \
        return name##2 { x, y };                                       \
    }                                                                  \
    static inline constexpr name##3 make_##name##3(T x, T y, T z)      \
    {                                                                  \
        return name##3 { x, y, z };                                    \
    }                                                                  \
    static inline constexpr name##4 make_##name##4(T x, T y, T z, T w) \
    {                                                                  \
        return name##4 { x, y, z, w };                                 \
    }
#define CUEMU_VECTOR3(T, name) \
    struct name##3             \
    {                          \
        T x, y, z;             \
    };

CUEMU_VECTOR3(float, float)
CUEMU_VECTOR3(double, double)
CUEMU_VECTOR3(int, int)
CUEMU_VECTOR3(signed char, char)
CUEMU_VECTOR3(unsigned char, uchar)
CUEMU_VECTOR3(short, short)
CUEMU_VECTOR3(unsigned short, ushort)
CUEMU_VECTOR3(long, long)
CUEMU_VECTOR3(unsigned long, ulong)
CUEMU_VECTOR3(long long, longlong)
CUEMU_VECTOR3(unsigned long long, ulonglong)
CUEMU_VECTOR(float, float, 8, 16)
CUEMU_VECTOR(double, double, 16, 16)
CUEMU_VECTOR(int, int, 8, 16)
CUEMU_VECTOR(unsigned, uint, 8, 16)
CUEMU_VECTOR(signed char, char, 2, 4)
CUEMU_VECTOR(unsigned char, uchar, 2, 4)
CUEMU_VECTOR(short, short, 4, 8)
CUEMU_VECTOR(unsigned short, ushort, 4, 8)
CUEMU_VECTOR(long, long, 16, 16)
CUEMU_VECTOR(unsigned long, ulong, 16, 16)
CUEMU_VECTOR(long long, longlong, 16, 16)
CUEMU_VECTOR(unsigned long long, ulonglong, 16, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{ x, y, z };
    }
};

#endif
#endif
