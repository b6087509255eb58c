/* 09-mixed-precision.h -- the checks of lab 09: structs of their rows, and the functions that run them. */
#pragma once

#include "checks/kernel.h"

/* ---- conversions: 09-conversions.c ---------------------------------------------------------------- */

/* The arrays have one type in mg_09_bf16_to_bf16 and its like. */
extern const mg_kernel mg_09_f32_to_bf16, mg_09_bf16_to_f32, mg_09_f32_to_f16, mg_09_f16_to_f32, mg_09_f16_to_bf16,
    mg_09_bf16_to_f16, mg_09_f32_to_f32, mg_09_f16_to_f16, mg_09_bf16_to_bf16;
extern const mg_special mg_09_other_types[];

/* Inputs of rows: each of the 65,536 patterns; f32 at and beside each normal number, and beside the middle of two;
 * exactly the middle of two; all of these around 0 and the subnormal numbers; around the largest number, and above; NaN
 * of every kind. */
mg_trial_fn mg_09_patterns, mg_09_nearest, mg_09_ties, mg_09_subnormals, mg_09_overflow, mg_09_not_numbers;

typedef struct convert_race {
    mg_case head;
    mt_dtype dtype;
    const char *bar;
} convert_race;

void mg_09_convert_race(mg_run *run, const void *one_case); /* a convert_race */

/* ---- products: 09-products.c ------------------------------------------------------------------------ */

/* Of bf16 where the name does not say f16. _a, _b: that operand is transposed, B in f16. Gaps: A, B, or both
 * transposed, and added to C. */
extern const mg_kernel mg_09_product, mg_09_product_f16, mg_09_product_a, mg_09_product_b, mg_09_product_ab,
    mg_09_added, mg_09_added_f16, mg_09_gaps[4], mg_09_pairs, mg_09_pairs_a, mg_09_pairs_b, mg_09_pairs_ab,
    mg_09_pairs_gaps[4];
extern const mg_special mg_09_product_numbers[], mg_09_product_blocks[], mg_09_product_refused[], mg_09_product_order[],
    mg_09_product_threads[]; /* pairs lose the first of the numbers, and are not refused the first of the refused */
mg_trial_fn mg_09_positive;  /* sums of positive terms */

typedef struct product_race {
    mg_case head;
    int64_t M, N, K;
    const char *bar;
    bool pairs; /* mt_matmul_bf16_cpu against the reference's mt_matmul16_cpu */
} product_race;

void mg_09_product_race(mg_run *run, const void *one_case); /* a product_race */
