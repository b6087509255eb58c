/* given.h -- the given CPU kernels that are not in kernels/kernels.h: strided arrays, functions and reductions,
 * rows and dropout. The CUDA kernels are lab 06's or given (cuda/kernels.h). Conventions are those of
 * kernels/kernels.h; sums run in double and are rounded once. */
#pragma once

#include "core/view.h"
#include "kernels/kernels.h"

MT_C_BEGIN

/* ---- strided arrays: elementwise_cpu.c ------------------------------------------------------------
 * Arithmetic with broadcasting, copies and sums through views. An operand is a pointer and a view of it; a broadcast
 * operand has stride 0 where it repeats, and its gradient is the sum over the repeats. All operands of a call have the
 * same shape. A NULL gradient is not computed. */
typedef struct mt_strided {
    float *data; /* the storage; view.offset is added */
    mt_view view;
} mt_strided;

/* out dense. da, db are views of dense gradients, broadcast as a and b were; dout dense. Backward of add and sub reads
 * neither a nor b, da of mul and div reads b, db reads a, of div both: NULL for what is not read. */
typedef void mt_binary_fwd_fn(float *out, const mt_strided *a, const mt_strided *b);
typedef void mt_binary_bwd_fn(const mt_strided *da, const mt_strided *db, const float *dout, const mt_strided *a,
                              const mt_strided *b);

mt_binary_fwd_fn mt_add_fwd_cpu, mt_sub_fwd_cpu, mt_mul_fwd_cpu, mt_div_fwd_cpu;
mt_binary_bwd_fn mt_add_bwd_cpu, mt_sub_bwd_cpu, mt_mul_bwd_cpu, mt_div_bwd_cpu;

/* mt_add_strided_cpu -- dst += src; a dst of stride 0 receives the sum. The gradient of every view. */
void mt_add_strided_cpu(const mt_strided *dst, const mt_strided *src);

/* mt_copy_to_strided_cpu -- dst = src; dst has no stride 0. */
void mt_copy_to_strided_cpu(const mt_strided *dst, const mt_strided *src);

/* ---- functions of dense arrays, sums and maxima along a dimension: math_cpu.c --------------------- */
mt_unary_fwd_fn mt_exp_fwd_cpu, mt_log_fwd_cpu, mt_sqrt_fwd_cpu;
mt_unary_bwd_fn mt_exp_bwd_cpu;  /* saved = out */
mt_unary_bwd_fn mt_log_bwd_cpu;  /* saved = x */
mt_unary_bwd_fn mt_sqrt_bwd_cpu; /* saved = out */

/* mt_sum_middle_cpu -- out[a,c] = sum_b x[a,b,c];  x [A,B,C] dense, out [A,C] overwritten. */
void mt_sum_middle_cpu(float *out, const float *x, int64_t A, int64_t B, int64_t C);

/* mt_max_middle_fwd_cpu -- out[a,c] = the largest of x[a,:,c], at[a,c] = its first b; NaN counts as the largest.
 * Aborts: B < 1 with A*C > 0. */
void mt_max_middle_fwd_cpu(float *out, int64_t *at, const float *x, int64_t A, int64_t B, int64_t C);
/* mt_max_middle_bwd_cpu -- dx[a,at[a,c],c] += dout[a,c]. */
void mt_max_middle_bwd_cpu(float *dx, const float *dout, const int64_t *at, int64_t A, int64_t B, int64_t C);

/* ---- rows of a table, dropout: rows_cpu.c ---------------------------------------------------------- */

/* mt_gather_rows_fwd_cpu -- out[n,:] = table[id[n],:];  table [V,C], id [N], out [N,C].   Aborts: an id outside 0 ..
 * V-1. */
void mt_gather_rows_fwd_cpu(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C);
/* mt_gather_rows_bwd_cpu -- dtable[id[n],:] += dout[n,:], in the order of n. */
void mt_gather_rows_bwd_cpu(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C);

/* mt_dropout_fwd_cpu -- keep x[i] / (1 - p) where element i of rng's uniform stream is >= p, else 0;  0 <= p < 1.
 * mt_dropout_bwd_cpu -- dx += dout through the same mask, which is drawn again from the same rng, never stored. */
void mt_dropout_fwd_cpu(float *out, const float *x, int64_t n, float p, const mt_rng *rng);
void mt_dropout_bwd_cpu(float *dx, const float *dout, int64_t n, float p, const mt_rng *rng);

/* ---- the table: see kernels/tables.h ------------------------------------------------------------------- */

/* clang-format off */
#define MT_GIVEN_KERNELS(K) \
    K(add_fwd) K(add_bwd) K(sub_fwd) K(sub_bwd) K(mul_fwd) K(mul_bwd) K(div_fwd) K(div_bwd) K(add_strided) \
    K(copy_to_strided) K(exp_fwd) K(exp_bwd) K(log_fwd) K(log_bwd) K(sqrt_fwd) K(sqrt_bwd) K(sum_middle) \
    K(max_middle_fwd) K(max_middle_bwd) K(gather_rows_fwd) K(gather_rows_bwd) K(dropout_fwd) K(dropout_bwd)
/* clang-format on */

typedef struct mt_given_table {
    MT_GIVEN_KERNELS(MT_KERNEL_ENTRY)
} mt_given_table;

MT_TABLE_OF(given, GIVEN) /* elementwise_cpu.c */

MT_C_END
