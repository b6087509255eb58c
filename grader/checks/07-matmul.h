/* 07-matmul.h -- the checks of lab 07: one struct for all rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "rows/device.h"
#include "build/ptxas.h"

#define F16  "mt_matmul_tensor_f16_cuda"
#define U16  0x1p-11 /* half an ulp of 1 in f16, */
#define UB16 0x1p-8  /* in bf16 */

typedef enum ladder_about {
    LD_SIZES,   /* plain products of every awkward size */
    LD_TRANS,   /* A, B, or both transposed */
    LD_STRIDES, /* leading dimensions with gaps, adding to C, NaN in a C to be overwritten */
    LD_EXACT,   /* long sums of numbers that are exact in 16 bits: in f32 the sums are exact */
} ladder_about;

typedef struct ladder_case {
    mg_case head;
    const char *function;
    ladder_about about;
    double unit; /* rounding error of an operand, 0 for f32 */
} ladder_case;

/* What is counted in a product of 256 x 256 x 128. */
typedef enum ladder_count {
    LD_TRAFFIC,
    LD_REQUESTS,
    LD_CONFLICTS,
    LD_WAVEFRONTS, /* of shared memory, for 32 multiply-adds: the work of one warp instruction without tensor cores */
} ladder_count;

typedef struct ladder_bar {
    mg_case head;
    const char *function;
    ladder_count count;
    bool turned; /* both operands transposed */
    double unit;
} ladder_bar;

/* What nvcc makes of a unit. */
typedef struct ladder_fact {
    mg_case head;
    const char *function;
    double unit;
    const char *file;
    mg_fact fact;
} ladder_fact;

/* 07-run.c */
void mg_07_values(mg_run *run, const void *one_case);   /* a ladder_case */
void mg_07_counts(mg_run *run, const void *one_case);   /* a ladder_bar */
void mg_07_compiled(mg_run *run, const void *one_case); /* a ladder_fact */

/* 07-linear.c */
void mg_07_linear_fwd(mg_run *run, const void *one_case);
void mg_07_linear_dx_dw(mg_run *run, const void *one_case);
void mg_07_linear_db(mg_run *run, const void *one_case);
