/* 09-mixed-precision.h -- the checks of lab 09: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"

/* ---- conversions: 09-conversions.c ---------------------------------------------------------------- */

/* What a row of conversions tests. */
typedef enum convert_about {
    CONVERT_ALL,        /* each of the 65,536 patterns to f32 */
    CONVERT_NEAREST,    /* f32 at and beside each normal number, and beside the middle of two */
    CONVERT_TIES,       /* exactly the middle of two */
    CONVERT_SUBNORMALS, /* all of these around 0 and the subnormal numbers */
    CONVERT_OVERFLOW,   /* around the largest number, and above */
    CONVERT_NAN,        /* NaN of every kind */
    CONVERT_SIZES,      /* both directions, awkward sizes, with and without threads */
    CONVERT_BETWEEN,    /* each pattern of one 16-bit type to the other */
} convert_about;

typedef struct convert_case {
    mg_case head;
    mt_dtype dtype; /* the 16-bit type */
    convert_about about;
} convert_case;

typedef struct convert_race {
    mg_case head;
    mt_dtype dtype;
    const char *bar;
} convert_race;

void mg_09_convert(mg_run *run, const void *one_case);      /* a convert_case */
void mg_09_convert_race(mg_run *run, const void *one_case); /* a convert_race */

/* ---- products: 09-products.c ------------------------------------------------------------------------ */

/* What a row of products tests, always with both types. */
typedef enum product_about {
    PRODUCT_SUMS,       /* a thousand positive terms */
    PRODUCT_SIZES,      /* every awkward size, and some longer than a block */
    PRODUCT_TRANS,      /* A, B, or both transposed */
    PRODUCT_ACCUMULATE, /* added to C, or overwriting NaN */
    PRODUCT_STRIDES,    /* leading dimensions with gaps */
    PRODUCT_THREADS,    /* the same bits with any number of threads */
} product_about;

typedef struct product_case {
    mg_case head;
    product_about about;
    bool pairs; /* mt_matmul_bf16_cpu, not mt_matmul16_cpu */
} product_case;

typedef struct product_race {
    mg_case head;
    int64_t M, N, K;
    const char *bar;
    bool pairs; /* mt_matmul_bf16_cpu against the reference's mt_matmul16_cpu */
} product_race;

void mg_09_product(mg_run *run, const void *one_case);      /* a product_case */
void mg_09_product_race(mg_run *run, const void *one_case); /* a product_race */
