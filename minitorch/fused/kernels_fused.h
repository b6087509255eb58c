/* kernels_fused.h -- the fused kernels of lab 11 on the CPU: several ops in one pass over memory. Conventions and
 * letters are those of kernels/kernels.h. */
#pragma once

#include "kernels/tables.h"
#include "models/kernels_gpt2.h"

MT_C_BEGIN

/* ---- residual + layernorm: solutions/11-fusion/residual_norm.c ---------------------------------- */

/* mt_residual_norm_fwd_cpu -- what a part of a block adds to the residual stream, and the layernorm of the sum.
 *   sum   [N,C]  overwritten: x + part; may alias x
 *   out   [N,C]  overwritten: the layernorm of sum (mt_layernorm_fwd_cpu); the reference has its bits, too
 *   mean, rstd [N]  overwritten; saved for backward
 *   x, part [N,C];  gamma, beta [C];  eps > 0
 * Moves: reads 8NC B, writes 8NC B, where a row fits in the cache; in two ops the sum is read once more.
 * Aborts: C < 1 with N > 0.   Lab 11.3 */
void mt_residual_norm_fwd_cpu(float *sum, float *out, float *mean, float *rstd, const float *x, const float *part,
                              const float *gamma, const float *beta, int64_t N, int64_t C, float eps);

/* mt_residual_norm_bwd_cpu -- gradients of the above; dx, dpart, dgamma, dbeta may each be NULL when not needed.
 *   dx, dpart [N,C] += dsum + rstd * (g - mean of g - xhat * mean of g*xhat),  g = dout * gamma, xhat of sum
 *   dgamma [C] += column sums of dout * xhat;  dbeta [C] += column sums of dout
 *   dsum [N,C]: the gradient that reaches sum from elsewhere, or NULL: none;  dout [N,C]
 *   sum [N,C], mean, rstd [N] as forward wrote them;  gamma [C]
 * Moves: reads 12NC B, adds to 8NC B, and reads 8NC B for dgamma and dbeta.   Lab 11.3 */
void mt_residual_norm_bwd_cpu(float *dx, float *dpart, float *dgamma, float *dbeta, const float *dsum,
                              const float *dout, const float *sum, const float *gamma, const float *mean,
                              const float *rstd, int64_t N, int64_t C);

/* ---- bias + GELU: solutions/11-fusion/bias_gelu.c ----------------------------------------------- */

/* mt_bias_gelu_fwd_cpu -- a bias for each column, and GPT-2's GELU of the sum (mt_gelu_tanh_fwd_cpu).
 *   out [N,C] overwritten, must not alias x;  x [N,C];  bias [C]
 * Where x + bias is NaN, out is.
 * Moves: reads 4NC B, writes 4NC B.   Lab 11.5 */
void mt_bias_gelu_fwd_cpu(float *out, const float *x, const float *bias, int64_t N, int64_t C);

/* mt_bias_gelu_bwd_cpu -- gradients of the above; dx and dbias may each be NULL when not needed.
 *   dx [N,C] += d, which is dout times the slope of GELU at x + bias
 *   dbias [C] += the sum of each column of d, added up in double, as mt_linear_bwd_cpu does
 *   dout, x [N,C];  bias [C] as in forward;  |x + bias| < 6e12, as for mt_gelu_tanh_bwd_cpu
 * Where dout or x + bias is NaN, d is, and so is the sum of its column.
 * Moves: reads 8NC B, adds to 4NC B.   Lab 11.5 */
void mt_bias_gelu_bwd_cpu(float *dx, float *dbias, const float *dout, const float *x, const float *bias, int64_t N,
                          int64_t C);

/* ---- classifier in chunks: solutions/11-fusion/chunked.c ------------------------------------------- */

/* mt_classifier_chunked_fwd_cpu -- the loss of a model's head (mt_classifier_fwd_cpu) and, for the gradient `share` of
 * each loss, the gradients of x and w; never more than `rows` rows of logits.
 *   loss [N] overwritten;  dx [N,C], dw [V,C] overwritten, of the sum of share * loss[n]; either may be NULL
 *   logits [rows,V], or [N,V] with N < rows: scratch, overwritten
 *   x [N,C];  w [V,C];  target [N] i32, each 0 .. V-1;  rows >= 1
 * Cost: N V C multiply-adds, and as many for each gradient.   Aborts: a target out of range; rows < 1.   Lab 11.4 */
void mt_classifier_chunked_fwd_cpu(float *loss, float *dx, float *dw, float *logits, const float *x, const float *w,
                                   const int32_t *target, int64_t N, int64_t C, int64_t V, int64_t rows, float share);

/* mt_classifier_chunks -- whether the op takes chunks of MT_CLASSIFIER_ROWS rows: if it allocates fewer numbers, of
 * which `more` are a gradient of w that cannot stay where it is made. */
enum { MT_CLASSIFIER_ROWS = 256 };
static inline bool mt_classifier_chunks(int64_t N, int64_t C, int64_t V, int64_t more)
{
    return N * V > MT_CLASSIFIER_ROWS * V + N * C + more;
}

/* ---- attention: the types and contracts of models/kernels_gpt2.h -------------------------------------- */

/* Tiled, solutions/11-fusion/flash.c: saved [B,H,T] holds the log of the sum of exp(score) of each row. */
mt_attention_saved_fn mt_attention_tiled_saved_cpu;
mt_attention_fwd_fn mt_attention_tiled_fwd_cpu; /* Lab 11.1 */
mt_attention_bwd_fn mt_attention_tiled_bwd_cpu; /* Lab 11.2 */

/* Packed, solutions/11-fusion/packed.c: saved as the tiled one's, and so is the result for D > 128. */
mt_attention_saved_fn mt_attention_packed_saved_cpu;
mt_attention_fwd_fn mt_attention_packed_fwd_cpu; /* Lab 11.11 */
mt_attention_bwd_fn mt_attention_packed_bwd_cpu; /* Lab 11.12 */

/* In tiles of 16 bits, solutions/11-fusion/attention_bf16.c: qkv is bf16. Scores, softmax and sums
 * are f32; each weight is rounded to bf16, by 2^-8 of it at most, before it multiplies a value. Subnormal numbers may
 * count as 0. saved as the tiled one's. Backward is the packed one's, of qkv widened to f32.   Aborts: D > 128. */
mt_attention_bf16_fwd_fn mt_attention_bf16_fwd_cpu; /* Lab 11.14 */

/* ---- the table ------------------------------------------------------------------------------------ */

#define MT_FUSED_KERNELS(K) K(bias_gelu_fwd) K(bias_gelu_bwd) K(classifier_chunked_fwd)

typedef struct mt_fused_table {
    MT_FUSED_KERNELS(MT_KERNEL_ENTRY)
} mt_fused_table;

MT_TABLES(fused) /* fused/bias_gelu.c */

MT_C_END
