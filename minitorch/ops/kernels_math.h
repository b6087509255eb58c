/* kernels_math.h -- given CPU kernels over dense arrays: functions, sums and maxima along a dimension.
 * Conventions are those of ops/kernels.h; sums run in double and are rounded once. */
#pragma once

#include "ops/kernels.h"

MT_C_BEGIN

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

/* clang-format off */
#define MT_MATH_KERNELS(K) \
    K(exp_fwd) K(exp_bwd) K(log_fwd) K(log_bwd) K(sqrt_fwd) K(sqrt_bwd) \
    K(sum_middle) K(max_middle_fwd) K(max_middle_bwd)
/* clang-format on */

typedef struct mt_math_table {
    MT_MATH_KERNELS(MT_KERNEL_ENTRY)
} mt_math_table;

extern const mt_math_table mt_math_cpu; /* unary_cpu.c */

static inline const mt_math_table *mt_math_kernels(mt_device device)
{
    return (const mt_math_table *)mt_table_in_use(MT_MATH_FAMILY, device, &mt_math_cpu);
}

MT_C_END
