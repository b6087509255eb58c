/* minmax.h -- min and max without std::, for the pairs of types for which CUDA has them. */
#ifndef CUEMU_MINMAX_H
#define CUEMU_MINMAX_H

#define CUEMU_MINMAX(T)                    \
    CUEMU_INLINE constexpr T min(T x, T y) \
    {                                      \
        return y < x ? y : x;              \
    }                                      \
    CUEMU_INLINE constexpr T max(T x, T y) \
    {                                      \
        return x < y ? y : x;              \
    }
CUEMU_MINMAX(int)
CUEMU_MINMAX(unsigned)
CUEMU_MINMAX(long)
CUEMU_MINMAX(unsigned long)
CUEMU_MINMAX(long long)
CUEMU_MINMAX(unsigned long long)
CUEMU_MINMAX(float)
CUEMU_MINMAX(double)

/* min and max of two different types, with the usual arithmetic conversions. CUDA has these pairs only. */
#define CUEMU_MINMAX2(T, U, R)             \
    CUEMU_INLINE constexpr R min(T x, U y) \
    {                                      \
        return min((R)x, (R)y);            \
    }                                      \
    CUEMU_INLINE constexpr R min(U x, T y) \
    {                                      \
        return min((R)x, (R)y);            \
    }                                      \
    CUEMU_INLINE constexpr R max(T x, U y) \
    {                                      \
        return max((R)x, (R)y);            \
    }                                      \
    CUEMU_INLINE constexpr R max(U x, T y) \
    {                                      \
        return max((R)x, (R)y);            \
    }
CUEMU_MINMAX2(int, unsigned, unsigned)
CUEMU_MINMAX2(long, unsigned long, unsigned long)
CUEMU_MINMAX2(long long, unsigned long long, unsigned long long)
CUEMU_MINMAX2(float, double, double)

#endif
