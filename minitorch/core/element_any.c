/* element_any.c -- single elements of any type as doubles. */
#include "core/element.h"

#include <math.h>

double mt_load_f64(const void *array, mt_dtype dtype, int64_t i)
{
    switch (dtype) {
    case MT_F32:
        return ((const float *)array)[i];
    case MT_F16:
        return mt_f16_to_f32(((const mt_f16 *)array)[i]);
    case MT_BF16:
        return mt_bf16_to_f32(((const mt_bf16 *)array)[i]);
    case MT_I32:
        return ((const int32_t *)array)[i];
    case MT_I64:
        return (double)((const int64_t *)array)[i];
    case MT_U8:
        return ((const uint8_t *)array)[i];
    }
    MT_CHECK(false, "there is no dtype number %d", (int)dtype);
    return 0;
}

/* The integer part of value; aborts unless low <= it <= high. `above` is high + 1, which a double holds exactly. */
static int64_t whole(double value, double low, double above, mt_dtype dtype)
{
    double part = trunc(value);
    MT_CHECK(part >= low && part < above, "%g does not fit %s", value, mt_dtype_name(dtype));
    return (int64_t)part;
}

void mt_store_f64(void *array, mt_dtype dtype, int64_t i, double value)
{
    switch (dtype) {
    case MT_F32:
        ((float *)array)[i] = (float)value;
        return;
    case MT_F16:
        ((mt_f16 *)array)[i] = mt_f16_from_f32((float)value);
        return;
    case MT_BF16:
        ((mt_bf16 *)array)[i] = mt_bf16_from_f32((float)value);
        return;
    case MT_I32:
        ((int32_t *)array)[i] = (int32_t)whole(value, -0x1p31, 0x1p31, dtype);
        return;
    case MT_I64:
        ((int64_t *)array)[i] = whole(value, -0x1p63, 0x1p63, dtype);
        return;
    case MT_U8:
        ((uint8_t *)array)[i] = (uint8_t)whole(value, 0, 256, dtype);
        return;
    }
    MT_CHECK(false, "there is no dtype number %d", (int)dtype);
}
