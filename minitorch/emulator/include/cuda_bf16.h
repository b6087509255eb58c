/* cuda_bf16.h -- __nv_bfloat16: 8 bits of precision, the range of float. */
#ifndef CUEMU_CUDA_BF16_H
#define CUEMU_CUDA_BF16_H

#include "cuemu/half.h"

CUEMU_HALF_TYPE(__nv_bfloat16, __nv_bfloat162, bf16_to_float, float_to_bf16)

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

CUEMU_CONVERT(float, __bfloat162float, __nv_bfloat16, (float)x)
CUEMU_CONVERT(__nv_bfloat16, __float2bfloat16, float, __nv_bfloat16(x))
CUEMU_CONVERT(__nv_bfloat16, __float2bfloat16_rn, float, __nv_bfloat16(x))
CUEMU_CONVERT(__nv_bfloat16, __double2bfloat16, double, __nv_bfloat16(x))
CUEMU_CONVERT(unsigned short, __bfloat16_as_ushort, __nv_bfloat16, x.__x)
CUEMU_CONVERT(__nv_bfloat16, __ushort_as_bfloat16, unsigned short, cuemu_bits<__nv_bfloat16>(x))
CUEMU_CONVERT(__nv_bfloat162, __bfloat162bfloat162, __nv_bfloat16, __nv_bfloat162(x, x))
CUEMU_CONVERT(__nv_bfloat162, __float2bfloat162_rn, float, __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x)))
CUEMU_CONVERT(__nv_bfloat162, __float22bfloat162_rn, float2, __nv_bfloat162(__nv_bfloat16(x.x), __nv_bfloat16(x.y)))
CUEMU_CONVERT(float2, __bfloat1622float2, __nv_bfloat162, make_float2((float)x.x, (float)x.y))
CUEMU_CONVERT(__nv_bfloat16, __low2bfloat16, __nv_bfloat162, x.x)
CUEMU_CONVERT(__nv_bfloat16, __high2bfloat16, __nv_bfloat162, x.y)
CUEMU_HALF_FUNCTION(__nv_bfloat162, __floats2bfloat162_rn, CUEMU_PAIR(float a, float b),
                    __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b)))
CUEMU_HALF_FUNCTION(__nv_bfloat162, __halves2bfloat162, CUEMU_PAIR(__nv_bfloat16 a, __nv_bfloat16 b),
                    __nv_bfloat162(a, b))
CUEMU_HALF_FUNCTION(__nv_bfloat162, make_bfloat162, CUEMU_PAIR(__nv_bfloat16 a, __nv_bfloat16 b), __nv_bfloat162(a, b))

#endif
