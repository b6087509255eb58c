/* 06-cuda.h -- the checks of lab 06: its kernels on the device, and the function that runs the rows of broadcasting. */
#pragma once

#include "checks/kernel.h"
#include "checks/oracle.h"
#include "optim/updates.h"

/* 06-elements.c */
extern const mg_kernel mg_06_fill, mg_06_saxpy, mg_06_saxpy_by_fours;
extern const mg_special mg_06_minus_zero[], mg_06_saxpy_edges[];
mg_credit_fn mg_06_credit_wide_loads;

/* 06-moves.c */
extern const mg_kernel mg_06_naive_transpose, mg_06_tiled_transpose, mg_06_gather, mg_06_scatter, mg_06_scatter_once;
extern const mg_special mg_06_many_tiles[];
mg_trial_fn mg_06_few_ids;
mg_credit_fn mg_06_credit_tiles;

typedef enum cuda_about {
    CU_SAME,     /* operands of one shape, dense */
    CU_REPEATED, /* operands with dimensions of stride 0 */
    CU_VIEWS,    /* operands with permuted dimensions, gaps and an offset */
    CU_COUNT,    /* one call of the size that the bar was measured at, and what the emulator counted */
} cuda_about;

typedef struct cuda_case {
    mg_case head;
    cuda_about about;
    mg_count count; /* for CU_COUNT */
} cuda_case;

void mg_06_broadcast(mg_run *run, const void *one_case); /* a cuda_case */

/* 06-reductions.c */
extern const mg_kernel mg_06_tree_sum, mg_06_sequential_sum, mg_06_shuffled_sum, mg_06_row_sum, mg_06_row_max,
    mg_06_histogram, mg_06_private_histogram;
extern const mg_special mg_06_many[], mg_06_full_count[];
mg_trial_fn mg_06_spoil, mg_06_one_value;
mg_credit_fn mg_06_credit_sum, mg_06_credit_atomics;

/* 06-rows.c */
extern const mg_kernel mg_06_layernorm, mg_06_layernorm_dx, mg_06_layernorm_dgamma;
extern const mg_special mg_06_no_columns[], mg_06_far_logits[], mg_06_constant_rows[], mg_06_large_mean[];

/* What layernorms share: kernels whose `about` is the operand x, behind out, mean and rstd; or, backward, dout, before
 * x, gamma, mean and rstd. */
mg_trial_fn mg_06_draw_eps, mg_06_overflow, mg_06_allow_nan, mg_06_save_moments;
mg_layernorm_saved mg_06_saved(const mg_trial *t);
#define MG_06_FAR_ROW                                                \
    { "a row whose squares exceed f32",                              \
      "where the squares exceed f32, a row and its rstd become NaN", \
      { 5, 133 },                                                    \
      .prepare = mg_06_overflow,                                     \
      .adjust = mg_06_allow_nan }

/* 06-updates.c */
extern const mg_kernel mg_06_sgd, mg_06_adam, mg_06_adamw;
extern const mg_special mg_06_sgd_edges[], mg_06_adam_edges[], mg_06_later_steps[];
mg_trial_fn mg_06_strong_decay, mg_06_first_steps;

/* mg_06_expect_update -- v, e [n] of the parameter and the averages after one step, from those before it; averages that
 * the rule does not have are NULL. */
void mg_06_expect_update(mt_update_kind kind, mt_hyper hyper, int64_t step, int64_t n, const float *const before[3],
                         const float *grad, double *const v[3], double *const e[3]);

enum { MG_06_COUNTED = 65536 }; /* the size of the bars */
