/* convert.c -- arrays of f32 into 16 bits and back, with integer arithmetic on the bits of each number.
 *
 *   f32   s eeeeeeee mmmmmmmmmmmmmmmmmmmmmmm    exponent bias 127
 *   f16   s eeeee    mmmmmmmmmm                 exponent bias 15, smaller by 112
 *   bf16  s eeeeeeee mmmmmmm                    the exponent of f32
 *
 * Functions of one number are in core/dtype.c; calling them in a loop costs a call and several branches an element.
 * Here each conversion is arithmetic without branches (`a ? b : c` of two numbers that are both computed is none), so
 * that the compiler makes vector instructions of the loops. The processor's own conversion to bf16, vcvtneps2bf16, sets
 * subnormals to 0; these functions keep them. */
#include "amp/kernels_16bit.h"

#include <string.h>

enum {
    PARALLEL_FROM = 1 << 16, /* elements from which waking the other threads (2 us) pays */
    PARTS = 64,
};

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- one number ------------------------------------------------------------------------------------ */

static inline uint16_t to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    /* TODO 09.1: Round to the upper 16 bits: to the nearest, of two equally near ones to the even one.
     * Hint: add 0x7fff and the last bit that is kept, then drop the lower 16; a carry runs into the exponent, as it
     * should. A NaN (bits without the sign above 0x7f800000) could become infinity so: keep its upper half instead,
     * with bit 6 set so that it stays a NaN. */
    MT_TODO("09.1"); /* delete this line when yours stands here */
}

static inline float from_bf16(uint16_t x)
{
    /* TODO 09.1: Exact: the upper half of an f32. */
    MT_TODO("09.1"); /* delete this line when yours stands here */
}

static inline uint16_t to_f16(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    /* TODO 09.2: Round to 10 bits of mantissa; the exponent becomes smaller by 112.
     * Hint: compute all four forms and choose. Normal: drop 13 bits, rounded as above, and subtract 112 << 10.
     * Below 2^-14 (size < 0x38800000): the last bit of 0.5f is 2^-24, the smallest f16, so |x| + 0.5f is rounded as
     * needed, and its bits minus those of 0.5f are the result. From 65520 on (size >= 0x477ff000): infinity, 0x7c00.
     * NaN: 0x7e00 and the upper 10 bits of the mantissa. */
    MT_TODO("09.2"); /* delete this line when yours stands here */
}

static inline float from_f16(uint16_t x)
{
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = (uint32_t)(x & 0x7fff) << 13;
    /* TODO 09.2: Exact.
     * Hint: as bits of an f32, `rest` is the number times 2^-112, subnormals too: multiply. Infinity and NaN
     * (rest >= 31 << 23) get the exponent 255 instead. */
    MT_TODO("09.2"); /* delete this line when yours stands here */
}

/* ---- arrays ---------------------------------------------------------------------------------------- */

/* A loop for each pair of types. An array so small that waking the other threads does not pay is converted without
 * OpenMP: entering a parallel region costs as much as a thousand numbers, even for one thread. */
#define CONVERSION(name, out_type, x_type, convert)                              \
    static void name(out_type *out, const x_type *x, int64_t begin, int64_t end) \
    {                                                                            \
        for (int64_t i = begin; i < end; i++)                                    \
            out[i] = convert(x[i]);                                              \
    }
#define BF16_TO_F16(x) to_f16(from_bf16(x))
#define F16_TO_BF16(x) to_bf16(from_f16(x))
CONVERSION(f32_to_bf16, uint16_t, float, to_bf16)
CONVERSION(f32_to_f16, uint16_t, float, to_f16)
CONVERSION(bf16_to_f32, float, uint16_t, from_bf16)
CONVERSION(f16_to_f32, float, uint16_t, from_f16)
CONVERSION(bf16_to_f16, uint16_t, uint16_t, BF16_TO_F16)
CONVERSION(f16_to_bf16, uint16_t, uint16_t, F16_TO_BF16)

/* Numbers begin .. end - 1 of the arrays. */
static void convert(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t begin, int64_t end)
{
    if (from == MT_F32)
        (to == MT_BF16 ? f32_to_bf16 : f32_to_f16)(out, x, begin, end);
    else if (to == MT_F32)
        (from == MT_BF16 ? bf16_to_f32 : f16_to_f32)(out, x, begin, end);
    else
        (from == MT_BF16 ? bf16_to_f16 : f16_to_bf16)(out, x, begin, end);
}

void mt_convert_cpu(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n)
{
    MT_CHECK((to == MT_F32 || mt_is_16bit(to)) && (from == MT_F32 || mt_is_16bit(from)),
             "convert: %s to %s: both must be f32, f16 or bf16", mt_dtype_name(from), mt_dtype_name(to));
    if (to == from) {
        memcpy(out, x, (size_t)(n * mt_dtype_size(to)));
    } else if (n < PARALLEL_FROM) {
        convert(out, to, x, from, 0, n);
    } else {
#pragma omp parallel for
        for (int64_t part = 0; part < PARTS; part++)
            convert(out, to, x, from, n * part / PARTS, n * (part + 1) / PARTS);
    }
}
