/* 09-mixed-precision.c -- the rows of lab 09. How they run: 09-conversions.c, 09-products.c, 09-training.c. */
#include "checks/09-mixed-precision.h"

// clang-format off

#define SIZES_HINT "each element by itself, at any address; a loop in steps of a vector has a rest"

/* ---- 09.1 bf16 */
static const convert_case bf16_cases[] = {
    { { 2, "every bf16 to f32", "a bf16 is the upper half of an f32: shift it there, sign included" },
      MT_BF16, CONVERT_ALL },
    { { 2, "to nearest", "add half of the last kept bit before the lower 16 are dropped: dropping alone truncates" },
      MT_BF16, CONVERT_NEAREST },
    { { 2, "ties to even",
        "halfway, round to the number whose last bit is 0: add 0x7fff and the last kept bit, not always 0x8000" },
      MT_BF16, CONVERT_TIES },
    { { 1, "subnormals", "the exponent 0 needs nothing special: bf16 has all exponents of f32; -0 stays -0" },
      MT_BF16, CONVERT_SUBNORMALS },
    { { 1, "overflow", "halfway above the largest bf16 the carry runs into the exponent: infinity, as it should be" },
      MT_BF16, CONVERT_OVERFLOW },
    { { 2, "NaN",
        "a NaN whose upper mantissa bits are 0 becomes infinity when the rest is dropped, and the carry can turn one "
        "into -0: test for NaN, and set bit 6" },
      MT_BF16, CONVERT_NAN },
    { { 1, "every size", SIZES_HINT }, MT_BF16, CONVERT_SIZES },
};
static const convert_race bf16_race[] = {
    { { 4, "speed", "no branches and no calls for an element, so that the compiler uses vector instructions" },
      MT_BF16, "09.1" },
};

/* ---- 09.2 f16 */
static const convert_case f16_cases[] = {
    { { 2, "every f16 to f32",
        "multiply by 2^112, which normalises subnormals too; infinity and NaN get the exponent 255" },
      MT_F16, CONVERT_ALL },
    { { 2, "to nearest", "13 bits are dropped: add 0xfff and the last kept bit before, and subtract 112 << 23" },
      MT_F16, CONVERT_NEAREST },
    { { 1, "ties to even", "halfway, round to the number whose last bit is 0" }, MT_F16, CONVERT_TIES },
    { { 2, "subnormals", "below 2^-14 the spacing stays 2^-24: add 0.5f, whose last bit that is; -0 stays -0" },
      MT_F16, CONVERT_SUBNORMALS },
    { { 2, "overflow", "65504 is the largest f16; from 65520 on, halfway to 65536, the result is infinity" },
      MT_F16, CONVERT_OVERFLOW },
    { { 1, "NaN", "infinity has mantissa 0: a NaN needs a bit there, 0x7e00 has one" }, MT_F16, CONVERT_NAN },
    { { 1, "every size", SIZES_HINT }, MT_F16, CONVERT_SIZES },
};
static const convert_case between_cases[] = {
    { { 2, "every pattern", "by way of f32, which has every number of both; the way to the other type rounds once" },
      MT_F16, CONVERT_BETWEEN },
};
static const convert_race f16_race[] = {
    { { 4, "speed", "compute all forms and choose with ?:, so that the compiler uses vector instructions" },
      MT_F16, "09.2" },
};

/* ---- 09.3 products */
static const product_case product_cases[] = {
    { { 4, "every size",
        "the last block of each dimension is shorter, and it begins at (i,k) of A and (k,j) of B; the first block of K "
        "must not add to C, which holds NaN" },
      PRODUCT_SIZES },
    { { 2, "sums of 1,000 terms",
        "the sum of each element of C must be f32: in bf16 a sum of terms of 0.01 stops at 4, where they are below "
        "half of its last bit" },
      PRODUCT_SUMS },
    { { 3, "transposed",
        "transposed, the lines in memory are columns of op(x): line j + l begins at (j + l) * ld + i" },
      PRODUCT_TRANS },
    { { 2, "accumulate", "the first block of K writes as d->write says, the others add" }, PRODUCT_ACCUMULATE },
    { { 2, "leading dimensions",
        "in memory lines lie ld apart, in the block they have no gaps; C keeps its ldc, and its gaps" },
      PRODUCT_STRIDES },
    { { 2, "same bits for any thread count", "threads share lines of a block or parts of C, never the sum over K" },
      PRODUCT_THREADS },
};
static const product_race product_races[] = {
    { { 5, "speed", "widen whole blocks and let lab 01's product multiply them: no conversion in the inner loop" },
      256, 512, 512, "09.3" },
};

static const mg_group groups[] = {
    MG_GROUP("09.1", "bf16", mg_09_convert, bf16_cases),
    MG_GROUP("09.1", "bf16", mg_09_convert_race, bf16_race),
    MG_GROUP("09.2", "f16", mg_09_convert, f16_cases),
    MG_GROUP("09.2", "f16 and bf16", mg_09_convert, between_cases),
    MG_GROUP("09.2", "f16", mg_09_convert_race, f16_race),
    MG_GROUP("09.3", "products", mg_09_product, product_cases),
    MG_GROUP("09.3", "products", mg_09_product_race, product_races),
    { "09.4", "cast policy", NULL, NULL, 0, 0 },
    { "09.5", "kept copies", NULL, NULL, 0, 0 },
    { "09.6", "scaler", NULL, NULL, 0, 0 },
    { "09.7", "unscaling", NULL, NULL, 0, 0 },
    { "09.8", "master", NULL, NULL, 0, 0 },
};

// clang-format on

const mg_lab mg_lab_09 = { "09-mixed-precision", groups, MT_COUNT(groups) };
