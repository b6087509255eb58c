/* test_dtype.c -- 16-bit floats against an oracle that knows only their definition, in double precision: every pattern,
 * every border between two neighbours, and random f32 patterns of all kinds. */
#include "aborts.h"
#include "core/dtype.h"
#include "core/rng.h"

#include <math.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

/* One 16-bit format and the functions under test, over plain bits. */
typedef struct format {
    const char *name;
    int exponent_bits, mantissa_bits;
    uint16_t (*from)(float);
    float (*to)(uint16_t);
} format;

static uint16_t f16_from(float value)
{
    return mt_f16_from_f32(value).bits;
}

static float f16_to(uint16_t bits)
{
    return mt_f16_to_f32((mt_f16){ bits });
}

static uint16_t bf16_from(float value)
{
    return mt_bf16_from_f32(value).bits;
}

static float bf16_to(uint16_t bits)
{
    return mt_bf16_to_f32((mt_bf16){ bits });
}

static const format formats[] = {
    { "f16", 5, 10, f16_from, f16_to },
    { "bf16", 8, 7, bf16_from, bf16_to },
};

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int largest_exponent(const format *f)
{
    return (1 << f->exponent_bits) - 1;
}

/* The value of a pattern, from the definition. Infinity counts as the power of two after the largest number. */
static double meaning(const format *f, unsigned magnitude)
{
    int bias = (1 << (f->exponent_bits - 1)) - 1, exponent = (int)(magnitude >> f->mantissa_bits);
    int mantissa = (int)(magnitude & ((1u << f->mantissa_bits) - 1));
    if (exponent == 0)
        return ldexp(mantissa, 1 - bias - f->mantissa_bits);
    return ldexp(mantissa + (1 << f->mantissa_bits), exponent - bias - f->mantissa_bits);
}

/* The pattern nearest to a number that is not NaN, the even one of two: found by halving the list of all patterns. */
static uint16_t nearest(const format *f, double value)
{
    unsigned low = 0, high = (unsigned)largest_exponent(f) << f->mantissa_bits; /* 0 and infinity */
    double size = fabs(value);
    unsigned sign = signbit(value) ? 0x8000 : 0;
    if (size >= meaning(f, high))
        return (uint16_t)(sign | high);
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (meaning(f, middle) <= size)
            low = middle;
        else
            high = middle;
    }
    double to_low = size - meaning(f, low), to_high = meaning(f, high) - size;
    bool up = to_high < to_low || (to_high == to_low && low % 2 == 1);
    return (uint16_t)(sign | (up ? high : low));
}

static bool is_nan(const format *f, uint16_t bits)
{
    return (bits & 0x7fff) > largest_exponent(f) << f->mantissa_bits;
}

static void check_rounding(const format *f, float value)
{
    uint16_t got = f->from(value), want = nearest(f, value);
    cr_assert_eq(got, want, "%s of %a is %04x, should be %04x", f->name, value, got, want);
}

Test(dtype, every_pattern_means_what_its_definition_says)
{
    for (int i = 0; i < MT_COUNT(formats); i++)
        for (unsigned bits = 0; bits < 65536; bits++) {
            const format *f = &formats[i];
            float got = f->to((uint16_t)bits);
            unsigned magnitude = bits & 0x7fff, infinity = (unsigned)largest_exponent(f) << f->mantissa_bits;
            cr_assert_eq(!!signbit(got), bits >> 15, "%s %04x has the wrong sign", f->name, bits);
            if (magnitude > infinity)
                cr_assert(isnan(got), "%s %04x should be NaN", f->name, bits);
            else if (magnitude == infinity)
                cr_assert(isinf(got), "%s %04x should be infinite", f->name, bits);
            else
                cr_assert_eq(fabs((double)got), meaning(f, magnitude), "%s %04x is %a", f->name, bits, got);
        }
}

Test(dtype, every_pattern_survives_a_round_trip)
{
    for (int i = 0; i < MT_COUNT(formats); i++)
        for (unsigned bits = 0; bits < 65536; bits++) {
            const format *f = &formats[i];
            uint16_t back = f->from(f->to((uint16_t)bits));
            if (is_nan(f, (uint16_t)bits)) /* stays a NaN of the same sign; a signalling one turns quiet */
                cr_assert(is_nan(f, back) && back >> 15 == bits >> 15, "%s NaN %04x became %04x", f->name, bits, back);
            else
                cr_assert_eq(back, bits, "%s %04x became %04x", f->name, bits, back);
        }
}

Test(dtype, borders_between_neighbours_round_to_nearest_even)
{
    for (int i = 0; i < MT_COUNT(formats); i++) {
        const format *f = &formats[i];
        unsigned infinity = (unsigned)largest_exponent(f) << f->mantissa_bits;
        for (unsigned low = 0; low < infinity; low++) {
            float exact = (float)meaning(f, low);
            float middle = (float)((meaning(f, low) + meaning(f, low + 1)) / 2); /* exact too: one more bit */
            float tried[] = { exact, nextafterf(exact, INFINITY), nextafterf(middle, 0), middle,
                              nextafterf(middle, INFINITY) };
            for (int k = 0; k < MT_COUNT(tried); k++) {
                check_rounding(f, tried[k]);
                check_rounding(f, -tried[k]);
            }
        }
    }
}

Test(dtype, landmarks)
{
    cr_assert_eq(f16_from(65504), 0x7bff);
    cr_assert_eq(f16_from(65519.996f), 0x7bff);
    cr_assert_eq(f16_from(65520), 0x7c00, "halfway to 65536 overflows: ties to even");
    cr_assert_eq(f16_from(-INFINITY), 0xfc00);
    cr_assert_eq(f16_from(0x1p-24f), 1, "the smallest subnormal");
    cr_assert_eq(f16_from(0x1p-25f), 0, "half of it ties to even zero");
    cr_assert_eq(f16_from(0x1.000002p-25f), 1);
    cr_assert_eq(f16_from(-0.0f), 0x8000);
    cr_assert_eq(f16_from(1), 0x3c00);
    cr_assert_eq(bf16_from(1), 0x3f80);
    cr_assert_eq(bf16_from(3.4028235e38f), 0x7f80, "the largest f32 rounds to infinity");
    cr_assert_eq(bf16_from(0x1p-149f), 0, "the smallest f32 is far below bf16's smallest");
    cr_assert_eq(bf16_from(float_of(0x7f800001)), 0x7fc0, "a NaN whose upper half looks like infinity stays NaN");
}

Test(dtype, random_patterns_round_to_nearest_even)
{
    mt_rng rng = mt_rng_new(11, MT_STREAM_TEST);
    for (int n = 0; n < 300000; n++) {
        float value = float_of(mt_rng_u32(&rng));
        for (int i = 0; i < MT_COUNT(formats); i++) {
            if (isnan(value))
                cr_assert(is_nan(&formats[i], formats[i].from(value)));
            else
                check_rounding(&formats[i], value);
        }
    }
}

#ifdef __F16C__
/* Every 997th f32 pattern, all exponents and NaNs among them: the bits the processor gives. */
Test(dtype, f16_agrees_with_the_processor)
{
    for (uint64_t bits = 0; bits < 1ull << 32; bits += 997) {
        float value = float_of((uint32_t)bits);
        uint16_t want = _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT), got = f16_from(value);
        cr_assert_eq(got, want, "f16 of %08x is %04x, the processor says %04x", (unsigned)bits, got, want);
    }
    for (unsigned bits = 0; bits < 65536; bits++) {
        float want = _cvtsh_ss((unsigned short)bits), got = f16_to((uint16_t)bits);
        cr_assert(got == want || (isnan(got) && isnan(want)), "f16 %04x is %a, the processor says %a", bits, got, want);
    }
}
#endif

Test(dtype, sizes_and_names)
{
    static const struct {
        mt_dtype dtype;
        int64_t size;
        const char *name;
    } all[] = { { MT_F32, 4, "f32" }, { MT_F16, 2, "f16" }, { MT_BF16, 2, "bf16" },
                { MT_I32, 4, "i32" }, { MT_I64, 8, "i64" }, { MT_U8, 1, "u8" } };
    cr_assert_eq(MT_COUNT(all), MT_DTYPE_COUNT);
    for (int i = 0; i < MT_DTYPE_COUNT; i++) {
        cr_assert_eq(mt_dtype_size(all[i].dtype), all[i].size);
        cr_assert_str_eq(mt_dtype_name(all[i].dtype), all[i].name);
    }
    ABORTS("no dtype number 6", mt_dtype_size((mt_dtype)6));
    ABORTS("no dtype number -1", mt_dtype_name((mt_dtype)-1));
}

Test(dtype, any_type_loads_and_stores_through_double)
{
    for (int dtype = 0; dtype < MT_DTYPE_COUNT; dtype++) {
        int64_t memory[3] = { 0 };
        for (int i = 0; i < 3; i++)
            mt_store_f64(memory, (mt_dtype)dtype, i, 10.0 * i + 1);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(mt_load_f64(memory, (mt_dtype)dtype, i), 10.0 * i + 1, "%s", mt_dtype_name((mt_dtype)dtype));
    }
}

Test(dtype, stored_integers_truncate_and_must_fit)
{
    int64_t cell = 0;
    mt_store_f64(&cell, MT_I32, 0, -2.9);
    cr_assert_eq(mt_load_f64(&cell, MT_I32, 0), -2);
    mt_store_f64(&cell, MT_I32, 0, 2147483647.5);
    cr_assert_eq(mt_load_f64(&cell, MT_I32, 0), 2147483647);
    mt_store_f64(&cell, MT_I32, 0, -2147483648.5);
    cr_assert_eq(mt_load_f64(&cell, MT_I32, 0), -2147483648.0);
    mt_store_f64(&cell, MT_I64, 0, -0x1p63);
    cr_assert_eq(cell, INT64_MIN);
    mt_store_f64(&cell, MT_U8, 0, 255.9);
    cr_assert_eq(mt_load_f64(&cell, MT_U8, 0), 255);
    mt_store_f64(&cell, MT_U8, 0, -0.9);
    cr_assert_eq(mt_load_f64(&cell, MT_U8, 0), 0);
    ABORTS("256 does not fit u8", mt_store_f64(&cell, MT_U8, 0, 256));
    ABORTS("-1 does not fit u8", mt_store_f64(&cell, MT_U8, 0, -1));
    ABORTS("does not fit i32", mt_store_f64(&cell, MT_I32, 0, 0x1p31));
    ABORTS("does not fit i64", mt_store_f64(&cell, MT_I64, 0, 0x1p63));
    ABORTS("does not fit i64", mt_store_f64(&cell, MT_I64, 0, NAN));
}
