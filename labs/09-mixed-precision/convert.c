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
     * Hint: what must be added before the lower 16 bits are dropped, so that a carry rounds up what is above half of
     * the last kept bit, and of two ties the one where that bit is 1? A carry may run into the exponent, as it should.
     * A NaN could become infinity so: keep its upper half instead, and make sure that a bit of its mantissa is set. */
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
     * Hint: compute all four forms and choose. A normal number is rounded as above, and its exponent gets the bias of
     * f16. Below 2^-14 the spacing of f16 is 2^-24: a sum of floats whose last bit is 2^-24 is rounded to it. From
     * halfway between 65504 and 65536 on the result is infinity. A NaN keeps the upper bits of its mantissa, and one
     * of them must be set. */
    MT_TODO("09.2"); /* delete this line when yours stands here */
}

static inline float from_f16(uint16_t x)
{
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = (uint32_t)(x & 0x7fff) << 13;
    /* TODO 09.2: Exact.
     * Hint: as bits of an f32, `rest` is the number times a power of two, subnormals too. Infinity and NaN, which have
     * the largest exponent of f16, get the largest exponent of f32 instead. */
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
