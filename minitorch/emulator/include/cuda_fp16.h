/* cuda_fp16.h -- __half: 11 bits of precision, up to 65504. */
#ifndef CUEMU_CUDA_FP16_H
#define CUEMU_CUDA_FP16_H

#include "cuemu/half.h"

CUEMU_HALF_TYPE(__half, __half2, f16_to_float, float_to_f16)

typedef __half half;
typedef __half2 half2;

CUEMU_CONVERT(float, __half2float, __half, (float)x)
CUEMU_CONVERT(__half, __float2half, float, __half(x))
CUEMU_CONVERT(__half, __float2half_rn, float, __half(x))
CUEMU_CONVERT(__half, __double2half, double, __half(x))
CUEMU_CONVERT(__half, __int2half_rn, int, __half(x))
CUEMU_CONVERT(int, __half2int_rn, __half, (int)rintf((float)x))
CUEMU_CONVERT(unsigned short, __half_as_ushort, __half, x.__x)
CUEMU_CONVERT(__half, __ushort_as_half, unsigned short, cuemu_bits<__half>(x))
CUEMU_CONVERT(__half2, __half2half2, __half, __half2(x, x))
CUEMU_CONVERT(__half2, __float2half2_rn, float, __half2(__half(x), __half(x)))
CUEMU_CONVERT(__half2, __float22half2_rn, float2, __half2(__half(x.x), __half(x.y)))
CUEMU_CONVERT(float2, __half22float2, __half2, make_float2((float)x.x, (float)x.y))
CUEMU_CONVERT(__half, __low2half, __half2, x.x)
CUEMU_CONVERT(__half, __high2half, __half2, x.y)
CUEMU_HALF_FUNCTION(__half2, __floats2half2_rn, CUEMU_PAIR(float a, float b), __half2(__half(a), __half(b)))
CUEMU_HALF_FUNCTION(__half2, __halves2half2, CUEMU_PAIR(__half a, __half b), __half2(a, b))
CUEMU_HALF_FUNCTION(__half2, make_half2, CUEMU_PAIR(__half a, __half b), __half2(a, b))

#endif
