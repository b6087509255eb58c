/* vecmath.h -- exp, tanh and erf of f32 that the compiler can vectorise: no calls, no tables, no branches.
 *
 * A call of libm's expf in a loop keeps the whole loop scalar; a loop over these inlined, branch-free functions is
 * vectorised at -O3 (bench_activations measures the speedup). Every float is allowed; NaN gives NaN. Maximum errors
 * over all floats, in units in the last place (minitorch/tests/test_vecmath.c): exp 1.1, tanh 1.4, erf 1.2.
 * Polynomials: minimax, fitted by datasets/reference/vecmath_fit.py. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^n for -126 <= n <= 127. */
static inline float mt_pow2(int32_t n)
{
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* e^x = 2^n e^r with |r| <= ln(2)/2. Overflows to infinity, underflows through the subnormals to 0. */
static inline float mt_expf(float x)
{
    float low = x < -104.0f ? -104.0f : x, clamped = low > 89.0f ? 89.0f : low;
    /* A sum with 1.5 * 2^23 has no bits for a fraction: it is rounded to an integer, which is in its last bits. */
    float shifted = clamped * 0x1.715476p+0f + 0x1.8p+23f, n = shifted - 0x1.8p+23f;
    float r = (clamped - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f; /* ln 2 in two parts: the first times n is exact */
    float p = 0x1.6db42ap-10f;
    p = p * r + 0x1.123b56p-7f;
    p = p * r + 0x1.55545ep-5f;
    p = p * r + 0x1.55548ep-3f;
    p = p * r + 0.5f;
    p = 1.0f + (r + r * r * p);
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    /* Minus those of 1.5 * 2^23 they are n. A conversion, which C leaves undefined where x is NaN, is not needed. */
    int32_t k = (int32_t)(bits - 0x4b400000u), half = k >> 1; /* two factors: 2^n may not be a normal float */
    return p * mt_pow2(half) * mt_pow2(k - half);
}

/* Near 0 a polynomial; elsewhere 1 - 2 / (e^(2|x|) + 1), with the sign of x. */
static inline float mt_tanhf(float x)
{
    float a = fabsf(x), u = x * x;
    float p = 0x1.246e14p-9f;
    p = p * u - 0x1.0ee562p-7f;
    p = p * u + 0x1.6418d8p-6f;
    p = p * u - 0x1.b9fa8ap-5f;
    p = p * u + 0x1.11109ep-3f;
    p = p * u - 0x1.555554p-2f;
    float near = x + x * u * p, far = copysignf(1.0f - 2.0f / (mt_expf(2.0f * a) + 1.0f), x);
    return a < 0.6f ? copysignf(near, x) : x == x ? far : x; /* copysign: -0 + 0 is +0 */
}

/* Near 0, x times a polynomial in x^2; elsewhere 1 - erfc|x|, where erfc is exp of a polynomial, with the sign of x. */
static inline float mt_erff(float x)
{
    float a = fabsf(x), u = x * x;
    float p = 0x1.496a30p-14f;
    p = p * u - 0x1.a3f700p-11f;
    p = p * u + 0x1.5405b2p-8f;
    p = p * u - 0x1.b7f90ep-6f;
    p = p * u + 0x1.ce2cf8p-4f;
    p = p * u - 0x1.81273ep-2f;
    p = p * u + 0x1.06eba8p-3f;    /* 2/sqrt(pi) - 1: the 1 is added exactly */
    float b = a < 4.0f ? a : 4.0f; /* erf(4) rounds to 1 */
    float q = -0x1.68a4d2p-16f;
    q = q * b + 0x1.cc6f86p-12f;
    q = q * b - 0x1.12d510p-8f;
    q = q * b + 0x1.9c8836p-6f;
    q = q * b - 0x1.bbe4c4p-4f;
    q = q * b - 0x1.443b00p-1f;
    q = q * b - 0x1.212aa2p+0f;
    q = q * b + 0x1.80b542p-13f;
    float near = x + x * p, far = copysignf(1.0f - mt_expf(q), x);
    return a < 1.0f ? near : x == x ? far : x;
}
