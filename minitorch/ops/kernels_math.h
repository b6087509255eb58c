/* kernels_math.h -- given CPU kernels over dense arrays: functions, sums and maxima along a dimension, rows of a table, dropout.
 * Conventions are those of ops/kernels.h; sums run in double and are rounded once. */
#ifndef MT_OPS_KERNELS_MATH_H
#define MT_OPS_KERNELS_MATH_H

#include "ops/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* mt_gather_rows_fwd_cpu -- out[n,:] = table[id[n],:];  table [V,C], id [N], out [N,C].   Aborts: an id outside 0 .. V-1. */
void mt_gather_rows_fwd_cpu(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C);
/* mt_gather_rows_bwd_cpu -- dtable[id[n],:] += dout[n,:], in the order of n. */
void mt_gather_rows_bwd_cpu(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C);

/* mt_dropout_fwd_cpu -- keep x[i] / (1 - p) where element i of rng's uniform stream is >= p, else 0;  0 <= p < 1.
 * mt_dropout_bwd_cpu -- dx += dout through the same mask, which is drawn again from the same rng, never stored. */
void mt_dropout_fwd_cpu(float *out, const float *x, int64_t n, float p, const mt_rng *rng);
void mt_dropout_bwd_cpu(float *dx, const float *dout, int64_t n, float p, const mt_rng *rng);

/* clang-format off */
#define MT_MATH_KERNELS(K) \
    K(exp_fwd) K(exp_bwd) K(log_fwd) K(log_bwd) K(sqrt_fwd) K(sqrt_bwd) K(sum_middle) K(max_middle_fwd) \
    K(max_middle_bwd) K(gather_rows_fwd) K(gather_rows_bwd) K(dropout_fwd) K(dropout_bwd)
/* clang-format on */

typedef struct mt_math_table {
    MT_MATH_KERNELS(MT_KERNEL_ENTRY)
} mt_math_table;

extern const mt_math_table mt_math_cpu; /* unary_cpu.c */

static inline const mt_math_table *mt_math_kernels(mt_device device)
{
    return (const mt_math_table *)mt_table_in_use(MT_MATH_FAMILY, device, &mt_math_cpu);
}

#ifdef __cplusplus
}
#endif
#endif
