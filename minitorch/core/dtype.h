/* dtype.h -- element types, their sizes, and conversion between f32 and the two 16-bit floats.
 *
 *   type  bytes  exponent  mantissa  largest      smallest normal
 *   f32   4      8 bits    23 bits   3.4e38       1.2e-38
 *   f16   2      5         10        65504        6.1e-5
 *   bf16  2      8         7         3.4e38       1.2e-38        the upper half of an f32 */
#ifndef MT_CORE_DTYPE_H
#define MT_CORE_DTYPE_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mt_dtype { MT_F32, MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 } mt_dtype;

#define MT_DTYPE_COUNT 6

/* 16-bit floats are carried as their bits; they are storage, arithmetic happens in f32. */
typedef struct mt_f16 {
    uint16_t bits;
} mt_f16;
typedef struct mt_bf16 {
    uint16_t bits;
} mt_bf16;

int64_t mt_dtype_size(mt_dtype dtype);     /* bytes per element */
const char *mt_dtype_name(mt_dtype dtype); /* "f32", "bf16", ... */

/* Conversions round to nearest, ties to even; overflow gives infinity, NaN stays NaN, subnormals are kept. */
mt_f16 mt_f16_from_f32(float value);
mt_bf16 mt_bf16_from_f32(float value);
float mt_f16_to_f32(mt_f16 value);
float mt_bf16_to_f32(mt_bf16 value);

/* mt_load_f64, mt_store_f64 -- element i of an array of any dtype as a double and back, for code that must work with
 * every dtype and need not be fast: tests, printing, comparisons. Stored integers truncate toward zero; 16-bit floats are
 * rounded to f32 first; an i64 beyond 2^53 loads rounded.   Aborts: a value no integer of that type can hold, or NaN. */
double mt_load_f64(const void *array, mt_dtype dtype, int64_t i);
void mt_store_f64(void *array, mt_dtype dtype, int64_t i, double value);

#ifdef __cplusplus
}
#endif
#endif
