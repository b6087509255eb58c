/* 09-mixed-precision.c -- the rows of lab 09. How they run: 09-conversions.c, 09-products.c, 09-training.c. */
#include "checks/09-mixed-precision.h"

// clang-format off

/* ---- 09.1 bf16, 09.2 f16 */
static const convert_case bf16_cases[] = {
    { { 2, "every bf16 to f32", "a bf16 is the upper half of an f32: shift it there" }, MT_BF16, CONVERT_ALL },
};
static const convert_case f16_cases[] = {
    { { 2, "every f16 to f32", "multiply by 2^112, subnormals too; infinity and NaN get the exponent 255" },
      MT_F16, CONVERT_ALL },
};

static const mg_group groups[] = {
    MG_GROUP("09.1", "bf16", mg_09_convert, bf16_cases),
    MG_GROUP("09.2", "f16", mg_09_convert, f16_cases),
    { "09.3", "products", NULL, NULL, 0, 0 },
    { "09.4", "cast policy", NULL, NULL, 0, 0 },
    { "09.5", "kept copies", NULL, NULL, 0, 0 },
    { "09.6", "scaler", NULL, NULL, 0, 0 },
    { "09.7", "unscaling", NULL, NULL, 0, 0 },
    { "09.8", "master", NULL, NULL, 0, 0 },
};

// clang-format on

const mg_lab mg_lab_09 = { "09-mixed-precision", groups, MT_COUNT(groups) };
