/* kernels_gpt2.h -- the CPU kernels of lab 08. Conventions and letters are those of ops/kernels.h. */
#ifndef MT_OPS_KERNELS_GPT2_H
#define MT_OPS_KERNELS_GPT2_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mt_layernorm_fwd_cpu -- normalise each row, then scale and shift.
 *   out   [N,C] f32  overwritten; may alias x
 *   mean  [N]   f32  overwritten; saved for backward
 *   rstd  [N]   f32  1/sqrt(var+eps); saved for backward
 *   x     [N,C] f32;  gamma, beta [C] f32;  eps > 0
 * out = (x - mean) * rstd * gamma + beta        (population variance)
 * Moves: reads 12NC B at worst, writes 4NC B.    Aborts: C < 1 with N > 0.
 * Source: Ba et al. 2016, arXiv:1607.06450, sec. 3.   Lab 08.3 */
void mt_layernorm_fwd_cpu(float *out, float *mean, float *rstd, const float *x, const float *gamma, const float *beta,
                          int64_t N, int64_t C, float eps);

/* mt_layernorm_bwd_cpu -- gradients of the above; dx, dgamma, dbeta may each be NULL when nobody needs them.
 *   dx [N,C] += rstd * (g - mean of g - xhat * mean of g*xhat),  g = dout * gamma,  xhat = (x - mean) * rstd
 *   dgamma [C] += column sums of dout * xhat;  dbeta [C] += column sums of dout
 *   dout, x [N,C];  gamma [C];  mean, rstd [N] as forward wrote them
 * Moves: reads 24NC B at worst, writes 4NC B.   Lab 08.3 */
void mt_layernorm_bwd_cpu(float *dx, float *dgamma, float *dbeta, const float *dout, const float *x, const float *gamma,
                          const float *mean, const float *rstd, int64_t N, int64_t C);

#ifdef __cplusplus
}
#endif
#endif
