/* dtype.c -- sizes and names of element types, the two 16-bit floats bit by bit, and single elements of any type as
 * doubles.
 *
 *   f32   s eeeeeeee mmmmmmmmmmmmmmmmmmmmmmm    exponent bias 127
 *   f16   s eeeee    mmmmmmmmmm                 exponent bias 15, smaller by 112
 *   bf16  s eeeeeeee mmmmmmm                    the exponent of f32
 *
 * To drop the low k bits with ties to even, add half of the last kept bit minus one, plus the last kept bit itself. A
 * carry out of the mantissa increments the exponent: the next larger float, or infinity. */
#include "core/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    int64_t size;
} types[MT_DTYPE_COUNT] = {
    [MT_F32] = { "f32", 4 }, [MT_F16] = { "f16", 2 }, [MT_BF16] = { "bf16", 2 },
    [MT_I32] = { "i32", 4 }, [MT_I64] = { "i64", 8 }, [MT_U8] = { "u8", 1 },
};

static void check(mt_dtype dtype)
{
    MT_CHECK((int)dtype >= 0 && (int)dtype < MT_DTYPE_COUNT, "there is no dtype number %d", (int)dtype);
}

int64_t mt_dtype_size(mt_dtype dtype)
{
    check(dtype);
    return types[dtype].size;
}

const char *mt_dtype_name(mt_dtype dtype)
{
    check(dtype);
    return types[dtype].name;
}

/* ---- 16 bits ----------------------------------------------------------------------------------------------------- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

mt_bf16 mt_bf16_from_f32(float value)
{
    uint32_t bits = bits_of(value);
    if (isnan(value)) /* rounding could carry a NaN into infinity; the added bit keeps it quiet and not zero */
        return (mt_bf16){ (uint16_t)(bits >> 16 | 0x40) };
    return (mt_bf16){ (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16) };
}

float mt_bf16_to_f32(mt_bf16 value)
{
    return float_of((uint32_t)value.bits << 16);
}

mt_f16 mt_f16_from_f32(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    uint32_t half;
    if (isnan(value))
        half = 0x7e00 | (magnitude >> 13 & 0x3ff);
    else if (magnitude >= 0x477ff000) /* 65520, halfway between the largest f16 and the next power of two */
        half = 0x7c00;
    else if (magnitude < 0x38800000) /* below 2^-14: 0.5f's last bit is 2^-24, so this addition rounds to subnormals */
        half = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    else
        half = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    return (mt_f16){ (uint16_t)(sign | half) };
}

float mt_f16_to_f32(mt_f16 value)
{
    uint32_t sign = (uint32_t)(value.bits & 0x8000) << 16, magnitude;
    uint32_t exponent = value.bits >> 10 & 31, mantissa = value.bits & 0x3ff;
    if (exponent == 31) /* infinity or NaN */
        magnitude = 0x7f800000 | mantissa << 13;
    else if (exponent == 0) /* zero or subnormal: mantissa * 2^-24, exact in f32 */
        magnitude = bits_of((float)mantissa * 0x1p-24f);
    else
        magnitude = (exponent + 112) << 23 | mantissa << 13;
    return float_of(sign | magnitude);
}

/* ---- any type ---------------------------------------------------------------------------------------------------- */

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
