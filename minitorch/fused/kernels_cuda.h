/* kernels_cuda.h -- the CUDA kernels of lab 11: launchers with the contracts of cuda/kernels_cuda.h.
 * Units: solutions/11-fusion/NAME.cu */
#pragma once

#include "fused/kernels_fused.h"

MT_C_BEGIN

/* ---- attention: flash_forward.cu, flash_backward.cu ------------------------------------ */

/* mt_attention_saved_cuda -- 2 B H T (cuda/table_fused.c). */
mt_attention_saved_fn mt_attention_saved_cuda;

/* mt_attention_fwd_cuda -- as mt_attention_tiled_fwd_cpu, in one launch; saved [2,B,H,T]: the log of the sum of
 * exp(score) of each row, then room for backward.
 * Moves: with R = 64 queries a block (32 in heads of more than 64 columns, 16 of more than 96) 8 T (T + R) D / 2R B a
 * head for keys and values, and 4 B for each number of q, out and saved.   Aborts: heads of more than MT_HEAD_COLUMNS.
 * Lab 11.6 */
mt_attention_fwd_fn mt_attention_fwd_cuda;

/* mt_attention_bf16_fwd_cuda -- as mt_attention_bf16_fwd_cpu, on tensor cores (sm_80 and later); it saves what
 * mt_attention_fwd_cuda saves.
 * Moves: T (T + 64) D / 16 B a head for keys and values, 2 B for each number of q, and 4 for each of out.
 * Lab 11.13 */
mt_attention_bf16_fwd_fn mt_attention_bf16_fwd_cuda;

/* mt_attention_bf16_pays_cuda -- does the device in use have tensor cores for bf16, and for a block the shared memory
 * that heads of C / H columns need? */
mt_attention_bf16_pays_fn mt_attention_bf16_pays_cuda;

/* mt_attention_bwd_cuda -- as mt_attention_tiled_bwd_cpu, in two launches; the second half of saved is overwritten.
 * Sums have a fixed order.
 * Moves: with R = 32 rows a block (16 in heads of more than 64 columns, 8 of more than 96) 16 T (T + R) D / 2R B a head
 * for tiles, 44 B for each number of q.   Lab 11.7 */
mt_attention_bwd_fn mt_attention_bwd_cuda;

/* ---- residual + layernorm: fused_norm.cu ------------------------------------------------------ */

/* mt_residual_norm_fwd_cuda -- as mt_residual_norm_fwd_cpu (sum may be x).
 * mt_residual_norm_rows_bwd_cuda -- the gradients of x and part that mt_residual_norm_bwd_cpu makes, in one launch.
 * Moves: forward reads 16NC B, gamma and beta among them, and writes 8NC B; backward reads 16NC B and adds to 8NC B per
 * addend; what of a row exceeds 4096 columns is read again.   Aborts: C < 1 with N > 0.   Lab 11.8 */
__typeof__(mt_residual_norm_fwd_cpu) mt_residual_norm_fwd_cuda;
void mt_residual_norm_rows_bwd_cuda(float *dx, float *dpart, const float *dsum, const float *dout, const float *sum,
                                    const float *gamma, const float *mean, const float *rstd, int64_t N, int64_t C);

/* ---- bias + GELU: fused_gelu.cu ---------------------------------------------------------------- */

/* mt_bias_gelu_fwd_cuda, mt_bias_gelu_bwd_cuda -- as mt_bias_gelu_fwd_cpu and mt_bias_gelu_bwd_cpu, each in one launch;
 * a column's sum is of 32 parts in double, in a fixed order.
 * Moves: forward reads 4NC B, writes 4NC B; backward reads 8NC B, adds to 4NC B.   Lab 11.10 */
void mt_bias_gelu_fwd_cuda(float *out, const float *x, const float *bias, int64_t N, int64_t C);
void mt_bias_gelu_bwd_cuda(float *dx, float *dbias, const float *dout, const float *x, const float *bias, int64_t N,
                           int64_t C);

MT_C_END
