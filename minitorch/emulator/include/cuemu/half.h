/* half.h -- the common part of the two 16-bit floats: a 16-bit type that computes in float and rounds once per
 * operation. (Rounding a float sum, product or quotient of 11-bit numbers to 11 bits gives the correctly rounded
 * result.) */
#ifndef CUEMU_HALF_H
#define CUEMU_HALF_H

#include "../cuda_runtime.h"

namespace cuemu
{

CUEMU_UNTRACED __attribute__((const)) static inline float f16_to_float(unsigned short bits)
{
    unsigned sign = (unsigned)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) { /* zero or subnormal: fraction * 2^-24 */
        float magnitude = (float)fraction * 5.9604644775390625e-8f;
        return sign ? -magnitude : magnitude;
    }
    exponent = exponent == 31 ? 255 : exponent + 112;
    return cuemu_bits<float>(sign | exponent << 23 | fraction << 13);
}

CUEMU_UNTRACED __attribute__((const)) static inline unsigned short float_to_f16(float x)
{
    unsigned bits = cuemu_bits<unsigned>(x), sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return 0x7fff;
    if (bits >= 0x477ff000) /* 65520 and above round to infinity */
        return (unsigned short)(sign | 0x7c00);
    if (bits < 0x38800000) { /* subnormal: adding 0.5 leaves the fraction, rounded to 2^-24, in the low bits */
        unsigned rounded = cuemu_bits<unsigned>(cuemu_bits<float>(bits) + 0.5f);
        return (unsigned short)(sign | (rounded - 0x3f000000));
    }
    bits += 0xc8000fff + (bits >> 13 & 1); /* the exponent's bias from 127 to 15; half to even */
    return (unsigned short)(sign | bits >> 13);
}

CUEMU_UNTRACED __attribute__((const)) static inline float bf16_to_float(unsigned short bits)
{
    return cuemu_bits<float>((unsigned)bits << 16);
}

CUEMU_UNTRACED __attribute__((const)) static inline unsigned short float_to_bf16(float x)
{
    unsigned bits = cuemu_bits<unsigned>(x);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* mma m16n8k16 with f16 sums: a register has two. */
CUEMU_UNTRACED static inline uint32_t ptx_pair(float low, float high)
{
    return float_to_f16(low) | (uint32_t)float_to_f16(high) << 16;
}
template <class D, class A, class B, class C>
CUEMU_INLINE void ptx_mma_f16(D &d0, D &d1, A a0, A a1, A a2, A a3, B b0, B b1, C c0, C c1)
{
    uint32_t a[4] = { get_register(a0), get_register(a1), get_register(a2), get_register(a3) };
    uint32_t b[2] = { get_register(b0), get_register(b1) }, low = get_register(c0), high = get_register(c1);
    float d[4], c[4] = { f16_to_float((unsigned short)low), f16_to_float((unsigned short)(low >> 16)),
                         f16_to_float((unsigned short)high), f16_to_float((unsigned short)(high >> 16)) };
    cuemu_mma(d, a, b, c, 16, 0);
    set_register(d0, ptx_pair(d[0], d[1])), set_register(d1, ptx_pair(d[2], d[3]));
}

} // namespace cuemu

/* The type, its pair, and the operators and functions that CUDA has for both formats under the same names. */
#define CUEMU_HALF_TYPE(H, H2, to_float, from_float)                                                                 \
    struct alignas(2) H {                                                                                            \
        unsigned short __x;                                                                                          \
        H() = default;                                                                                               \
        CUEMU_MEMBER H(float x) : __x(cuemu::from_float(x))                                                          \
        {                                                                                                            \
        }                                                                                                            \
        CUEMU_MEMBER H(double x) : __x(cuemu::from_float((float)x))                                                  \
        {                                                                                                            \
        }                                                                                                            \
        CUEMU_MEMBER H(int x) : __x(cuemu::from_float((float)x))                                                     \
        {                                                                                                            \
        }                                                                                                            \
        CUEMU_MEMBER H(unsigned x) : __x(cuemu::from_float((float)x))                                                \
        {                                                                                                            \
        }                                                                                                            \
        CUEMU_MEMBER operator float() const                                                                          \
        {                                                                                                            \
            return cuemu::to_float(__x);                                                                             \
        }                                                                                                            \
    };                                                                                                               \
    struct alignas(4) H2 {                                                                                           \
        H x, y;                                                                                                      \
        H2() = default;                                                                                              \
        CUEMU_MEMBER H2(H a, H b) : x(a), y(b)                                                                       \
        {                                                                                                            \
        }                                                                                                            \
    };                                                                                                               \
    CUEMU_HALF_OPERATOR(H, H2, +, __hadd)                                                                            \
    CUEMU_HALF_OPERATOR(H, H2, -, __hsub)                                                                            \
    CUEMU_HALF_OPERATOR(H, H2, *, __hmul)                                                                            \
    CUEMU_HALF_OPERATOR(H, H2, /, __hdiv)                                                                            \
    CUEMU_HALF_COMPARISON(H, H2, ==, __heq)                                                                          \
    CUEMU_HALF_COMPARISON(H, H2, <, __hlt)                                                                           \
    CUEMU_HALF_COMPARISON(H, H2, <=, __hle)                                                                          \
    CUEMU_HALF_COMPARISON(H, H2, >, __hgt)                                                                           \
    CUEMU_HALF_COMPARISON(H, H2, >=, __hge)                                                                          \
    CUEMU_HALF_COMPARISON(H, H2, !=, __hne)                                                                          \
    CUEMU_HALF_FUNCTION(H, operator-, H x, H(-(float)x))                                                             \
    CUEMU_HALF_FUNCTION(H, __hneg, H x, H(-(float)x))                                                                \
    CUEMU_HALF_FUNCTION(H, __habs, H x, H(fabsf((float)x)))                                                          \
    CUEMU_HALF_FUNCTION(H, hexp, H x, H(expf((float)x)))                                                             \
    CUEMU_HALF_FUNCTION(H, hlog, H x, H(logf((float)x)))                                                             \
    CUEMU_HALF_FUNCTION(H, hsqrt, H x, H(sqrtf((float)x)))                                                           \
    CUEMU_HALF_FUNCTION(H, hrsqrt, H x, H(1.0f / sqrtf((float)x)))                                                   \
    CUEMU_HALF_FUNCTION(bool, __hisnan, H x, (float)x != (float)x)                                                   \
    CUEMU_HALF_FUNCTION(H, __hmax, CUEMU_PAIR(H a, H b), H(fmaxf((float)a, (float)b)))                               \
    CUEMU_HALF_FUNCTION(H, __hmin, CUEMU_PAIR(H a, H b), H(fminf((float)a, (float)b)))                               \
    CUEMU_HALF_FUNCTION(H, __hfma, CUEMU_PAIR(H a, H b, H c),                                                        \
                        H((double)(float)a *(double)(float)b + (double)(float)c))                                    \
    CUEMU_HALF_FUNCTION(H2, __hadd2, CUEMU_PAIR(H2 a, H2 b), a + b)                                                  \
    CUEMU_HALF_FUNCTION(H2, __hsub2, CUEMU_PAIR(H2 a, H2 b), a - b)                                                  \
    CUEMU_HALF_FUNCTION(H2, __hmul2, CUEMU_PAIR(H2 a, H2 b), a *b)                                                   \
    CUEMU_HALF_FUNCTION(H2, __h2div, CUEMU_PAIR(H2 a, H2 b), a / b)                                                  \
    CUEMU_HALF_FUNCTION(H2, __hmax2, CUEMU_PAIR(H2 a, H2 b), H2(__hmax(a.x, b.x), __hmax(a.y, b.y)))                 \
    CUEMU_HALF_FUNCTION(H2, __hmin2, CUEMU_PAIR(H2 a, H2 b), H2(__hmin(a.x, b.x), __hmin(a.y, b.y)))                 \
    CUEMU_HALF_FUNCTION(H2, __hfma2, CUEMU_PAIR(H2 a, H2 b, H2 c), H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y))) \
    CUEMU_HALF_FUNCTION(H2, h2exp, H2 a, H2(hexp(a.x), hexp(a.y)))                                                   \
    CUEMU_HALF_FUNCTION(float, __low2float, H2 a, (float)a.x)                                                        \
    CUEMU_HALF_FUNCTION(float, __high2float, H2 a, (float)a.y)

#define CUEMU_PAIR(...) __VA_ARGS__
#define CUEMU_HALF_FUNCTION(R, name, parameters, expression) \
    CUEMU_INLINE R name(parameters)                          \
    {                                                        \
        return expression;                                   \
    }
#define CUEMU_HALF_OPERATOR(H, H2, op, function)                                             \
    CUEMU_HALF_FUNCTION(H, operator op, CUEMU_PAIR(H a, H b), H((float)a op(float) b))       \
    CUEMU_HALF_FUNCTION(H, function, CUEMU_PAIR(H a, H b), H((float)a op(float) b))          \
    CUEMU_HALF_FUNCTION(H &, operator op##=, CUEMU_PAIR(H & a, H b), a = a op b)             \
    CUEMU_HALF_FUNCTION(H2, operator op, CUEMU_PAIR(H2 a, H2 b), H2(a.x op b.x, a.y op b.y)) \
    CUEMU_HALF_FUNCTION(H2 &, operator op##=, CUEMU_PAIR(H2 & a, H2 b), a = a op b)
/* The functions are false where a number is NaN; of the operators, != is true there. */
#define CUEMU_HALF_COMPARISON(H, H2, op, function)                                       \
    CUEMU_HALF_FUNCTION(bool, operator op, CUEMU_PAIR(H a, H b), (float)a op(float) b)   \
    CUEMU_HALF_FUNCTION(bool, function, CUEMU_PAIR(H a, H b), a op b &&a == a && b == b) \
    CUEMU_HALF_FUNCTION(H2, function##2, CUEMU_PAIR(H2 a, H2 b),                         \
                        H2(H(function(a.x, b.x) ? 1.0f : 0.0f), H(function(a.y, b.y) ? 1.0f : 0.0f)))

#endif
