/* math.h -- CUDA's mathematical functions and integer intrinsics that <cmath> does not have. The fast ones (__expf) are
 * as accurate here as the slow ones; on a GPU their larger error uses a part of a derived tolerance. */
#ifndef CUEMU_MATH_H
#define CUEMU_MATH_H

/* Names that the host's <math.h> declares for itself, or may in its next version: C23 has sinpi, cospi and rsqrt (glibc
 * 2.41 and 2.42), and BSDs have more. What the device's functions are called is never a name of the host's. */
#define __expf    cuemu_expf
#define __exp10f  cuemu_exp10f
#define __logf    cuemu_logf
#define __log2f   cuemu_log2f
#define __log10f  cuemu_log10f
#define __sinf    cuemu_sinf
#define __cosf    cuemu_cosf
#define __tanf    cuemu_tanf
#define __powf    cuemu_powf
#define __sincosf cuemu_sincosf
#define rsqrtf    cuemu_rsqrtf
#define rsqrt     cuemu_rsqrt
#define rcbrtf    cuemu_rcbrtf
#define rcbrt     cuemu_rcbrt
#define normcdff  cuemu_normcdff
#define normcdf   cuemu_normcdf
#define sinpif    cuemu_sinpif
#define sinpi     cuemu_sinpi
#define cospif    cuemu_cospif
#define cospi     cuemu_cospi
#define sincospif cuemu_sincospif
#define rhypotf   cuemu_rhypotf
#define fdividef  cuemu_fdividef
#define umin      cuemu_umin
#define umax      cuemu_umax

#define CUEMU_MATH1(T, name, expression) \
    CUEMU_INLINE T name(T x)             \
    {                                    \
        return expression;               \
    }
#define CUEMU_MATH2(T, name, expression) \
    CUEMU_INLINE T name(T x, T y)        \
    {                                    \
        return expression;               \
    }
CUEMU_MATH1(float, __expf, expf(x))
CUEMU_MATH1(float, __exp10f, powf(10.0f, x))
CUEMU_MATH1(float, __logf, logf(x))
CUEMU_MATH1(float, __log2f, log2f(x))
CUEMU_MATH1(float, __log10f, log10f(x))
CUEMU_MATH1(float, __sinf, sinf(x))
CUEMU_MATH1(float, __cosf, cosf(x))
CUEMU_MATH1(float, __tanf, tanf(x))
CUEMU_MATH2(float, __powf, powf(x, y))
CUEMU_MATH1(float, rsqrtf, 1.0f / sqrtf(x))
CUEMU_MATH1(double, rsqrt, 1.0 / sqrt(x))
CUEMU_MATH1(float, __frsqrt_rn, 1.0f / sqrtf(x))
CUEMU_MATH1(float, __frcp_rn, 1.0f / x)
CUEMU_MATH1(float, __fsqrt_rn, sqrtf(x))
CUEMU_MATH1(float, __saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
CUEMU_MATH1(float, normcdff, 0.5f * erfcf(-x * 0.70710678f))
CUEMU_MATH1(float, sinpif, sinf(3.14159265358979f * fmodf(x, 2.0f)))
CUEMU_MATH1(float, cospif, cosf(3.14159265358979f * fmodf(x, 2.0f)))
CUEMU_MATH2(float, fdividef, x / y)
CUEMU_MATH2(float, __fdividef, x / y)
CUEMU_MATH2(float, __fdiv_rn, x / y)
CUEMU_MATH2(float, __fadd_rn, x + y)
CUEMU_MATH2(float, __fsub_rn, x - y)
CUEMU_MATH2(float, __fmul_rn, x *y)
CUEMU_MATH2(double, __dadd_rn, x + y)
CUEMU_MATH2(double, __dmul_rn, x *y)

CUEMU_INLINE float __fmaf_rn(float x, float y, float z)
{
    return fmaf(x, y, z);
}
CUEMU_INLINE void __sincosf(float x, float *sine, float *cosine)
{
    *sine = sinf(x);
    *cosine = cosf(x);
}

/* ---- bits ---- */
template <class To, class From> CUEMU_INLINE To cuemu_bits(From from)
{
    To to;
    static_assert(sizeof to == sizeof from, "bits are kept, not converted");
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
#define CUEMU_CONVERT(To, name, From, expression) \
    CUEMU_INLINE To name(From x)                  \
    {                                             \
        return expression;                        \
    }
CUEMU_CONVERT(int, __float_as_int, float, cuemu_bits<int>(x))
CUEMU_CONVERT(unsigned, __float_as_uint, float, cuemu_bits<unsigned>(x))
CUEMU_CONVERT(float, __int_as_float, int, cuemu_bits<float>(x))
CUEMU_CONVERT(float, __uint_as_float, unsigned, cuemu_bits<float>(x))
CUEMU_CONVERT(long long, __double_as_longlong, double, cuemu_bits<long long>(x))
CUEMU_CONVERT(double, __longlong_as_double, long long, cuemu_bits<double>(x))
CUEMU_CONVERT(int, __float2int_rn, float, (int)rintf(x))
CUEMU_CONVERT(int, __float2int_rz, float, (int)x)
CUEMU_CONVERT(int, __float2int_rd, float, (int)floorf(x))
CUEMU_CONVERT(int, __float2int_ru, float, (int)ceilf(x))
CUEMU_CONVERT(unsigned, __float2uint_rn, float, (unsigned)rintf(x))
CUEMU_CONVERT(unsigned, __float2uint_rz, float, (unsigned)x)
CUEMU_CONVERT(float, __int2float_rn, int, (float)x)
CUEMU_CONVERT(float, __uint2float_rn, unsigned, (float)x)
CUEMU_CONVERT(float, __double2float_rn, double, (float)x)
CUEMU_CONVERT(int, __popc, unsigned, __builtin_popcount(x))
CUEMU_CONVERT(int, __popcll, unsigned long long, __builtin_popcountll(x))
CUEMU_CONVERT(int, __clz, int, x ? __builtin_clz((unsigned)x) : 32)
CUEMU_CONVERT(int, __clzll, long long, x ? __builtin_clzll((unsigned long long)x) : 64)
CUEMU_CONVERT(int, __ffs, int, __builtin_ffs(x))
CUEMU_CONVERT(int, __ffsll, long long, __builtin_ffsll(x))

CUEMU_CONVERT(int, __double2int_rn, double, (int)rint(x))
CUEMU_CONVERT(int, __double2int_rz, double, (int)x)
CUEMU_CONVERT(long long, __double2ll_rn, double, (long long)rint(x))
CUEMU_CONVERT(long long, __float2ll_rn, float, (long long)rintf(x))
CUEMU_CONVERT(double, __int2double_rn, int, (double)x)
CUEMU_CONVERT(double, __uint2double_rn, unsigned, (double)x)
CUEMU_CONVERT(float, __ll2float_rn, long long, (float)x)
CUEMU_CONVERT(double, __ll2double_rn, long long, (double)x)
CUEMU_CONVERT(int, __double2hiint, double, (int)(cuemu_bits<unsigned long long>(x) >> 32))
CUEMU_CONVERT(int, __double2loint, double, (int)cuemu_bits<unsigned long long>(x))
CUEMU_CONVERT(float, rcbrtf, float, 1.0f / cbrtf(x))
CUEMU_CONVERT(double, rcbrt, double, 1.0 / cbrt(x))
CUEMU_CONVERT(double, normcdf, double, 0.5 * erfc(-x * 0.70710678118654752))
CUEMU_CONVERT(double, sinpi, double, sin(3.14159265358979323846 * fmod(x, 2.0)))
CUEMU_CONVERT(double, cospi, double, cos(3.14159265358979323846 * fmod(x, 2.0)))
CUEMU_MATH2(int, __mul24, (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8)))
CUEMU_MATH2(unsigned, __umul24, (x & 0xffffffu) * (y & 0xffffffu))
CUEMU_MATH2(unsigned, umin, y < x ? y : x)
CUEMU_MATH2(unsigned, umax, x < y ? y : x)
CUEMU_MATH2(unsigned long long, __umul64hi, (unsigned long long)((unsigned __int128)x *y >> 64))
CUEMU_MATH2(long long, __mul64hi, (long long)((__int128)x *y >> 64))
CUEMU_MATH2(float, rhypotf, 1.0f / hypotf(x, y))
CUEMU_MATH2(int, __hadd, (int)(((long long)x + y) >> 1))
CUEMU_MATH2(double, __dsub_rn, x - y)
CUEMU_MATH2(double, __ddiv_rn, x / y)
CUEMU_MATH2(float, __fmul_rz, x *y)
CUEMU_MATH2(float, __fadd_rz, x + y)
CUEMU_CONVERT(double, __dsqrt_rn, double, sqrt(x))
CUEMU_CONVERT(double, __drcp_rn, double, 1.0 / x)

CUEMU_INLINE double __hiloint2double(int high, int low)
{
    return cuemu_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}
CUEMU_INLINE double __fma_rn(double x, double y, double z)
{
    return fma(x, y, z);
}
CUEMU_INLINE void sincospif(float x, float *sine, float *cosine)
{
    *sine = sinpif(x);
    *cosine = cospif(x);
}
CUEMU_INLINE unsigned __sad(int x, int y, unsigned sum)
{
    return sum + (unsigned)(x < y ? y - x : x - y);
}
CUEMU_INLINE unsigned __usad(unsigned x, unsigned y, unsigned sum)
{
    return sum + (x < y ? y - x : x - y);
}
CUEMU_INLINE unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
CUEMU_INLINE unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
CUEMU_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
CUEMU_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
CUEMU_INLINE unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((uint64_t)x * y >> 32);
}
CUEMU_INLINE int __mulhi(int x, int y)
{
    return (int)((int64_t)x * y >> 32);
}
CUEMU_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    return result;
}
CUEMU_INLINE int __dp4a(int x, int y, int sum)
{
    for (int i = 0; i < 4; i++)
        sum += (signed char)(x >> 8 * i) * (signed char)(y >> 8 * i);
    return sum;
}

/* ---- loads and stores with a cache hint, which changes nothing here: but __ldg may load only what no thread writes */
template <class T> CUEMU_INLINE T __ldg(const T *at)
{
    T value = *at;
    cuemu_constant_load(at, sizeof value);
    return value;
}
#define CUEMU_LOAD(name)                                \
    template <class T> CUEMU_INLINE T name(const T *at) \
    {                                                   \
        return *at;                                     \
    }
#define CUEMU_STORE(name)                                                  \
    template <class T> CUEMU_INLINE void name(T *at, cuemu::same<T> value) \
    {                                                                      \
        *at = value;                                                       \
    }
CUEMU_LOAD(__ldcs)
CUEMU_LOAD(__ldcg)
CUEMU_LOAD(__ldca)
CUEMU_LOAD(__ldlu)
CUEMU_LOAD(__ldcv)
CUEMU_STORE(__stcs)
CUEMU_STORE(__stcg)
CUEMU_STORE(__stwb)
CUEMU_STORE(__stwt)

CUEMU_INLINE size_t __cvta_generic_to_shared(const void *shared)
{
    return cuemu_shared_offset(shared);
}
CUEMU_INLINE void *__cvta_shared_to_generic(size_t offset)
{
    return cuemu_shared_address(offset);
}

#endif
