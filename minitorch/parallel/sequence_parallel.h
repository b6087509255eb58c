/* sequence_parallel.h -- tensor parallelism (parallel/tensor_parallel.h) in which a rank has, outside the products,
 * only its part of the tokens: layernorm, dropout and the residual stream work on these.
 * Unit: solutions/14-model-parallel/sequence_parallel.c
 *
 *     part = mt_residual(part, row(gelu(column(mt_layernorm(part, ...)))))      // [n / P,C] on each of P ranks
 *     ... backward ...
 *     mt_sp_sum_gradients(&tp, params, count);                                  // gains, biases: what all ranks have
 *
 * n tokens of C numbers, [n,C], are divided in order: rank r has rows r n / P .. (r + 1) n / P - 1. An all-reduce is a
 * reduce-scatter and an all-gather: here the first ends a row-parallel product, the second begins a column-parallel
 * one, and what is between the two works on one row of P. All tensors are f32. As in tensor_parallel.h, a collective
 * that fails leaves its status in tp->status, and none is called after it.
 * Source: Korthikanti et al. 2022, arXiv:2205.05198, sec. 4.2. */
#pragma once

#include "parallel/tensor_parallel.h"

MT_C_BEGIN

/* mt_tp_all_gather -- all [size * n] becomes the part [n] of all ranks, in order of rank; mt_tp_reduce_scatter -- part
 * [n] becomes part `rank` of the sum of all [size * n] over the ranks. Neither if an earlier collective has failed. */
static inline void mt_tp_all_gather(mt_tp *tp, float *all, const float *part, int64_t n)
{
    if (tp->status == MT_OK)
        tp->status = mt_all_gather(tp->comm, all, part, n, MT_F32, NULL);
}

static inline void mt_tp_reduce_scatter(mt_tp *tp, float *part, const float *all, int64_t n)
{
    if (tp->status == MT_OK)
        tp->status = mt_reduce_scatter(tp->comm, part, all, n, MT_F32, MT_SUM, NULL);
}

/* mt_sp_gather -- x [m,C], this rank's tokens: [m P,C], those of all ranks. The gradient of x is the sum of what all
 * ranks have for these tokens. One all-gather of m C numbers a rank in forward, one reduce-scatter of as many in
 * backward.   Lab 14.14 */
mt_tensor *mt_sp_gather(mt_tp *tp, mt_tensor *x);

/* mt_sp_scatter -- x [...,C], whose n rows are this rank's summand for all tokens: [n / P,C], the sum over the ranks
 * for this rank's tokens. One reduce-scatter in forward, one all-gather in backward.
 * Aborts, naming both: n is not a multiple of P.   Lab 14.14 */
mt_tensor *mt_sp_scatter(mt_tp *tp, mt_tensor *x);

/* mt_sp_column_linear, mt_sp_row_linear -- mt_tp_column_linear and mt_tp_row_linear for tokens that are divided: the
 * first takes x [n / P,I] and gives [n,O / P], the second takes x [...,I / P] of n rows and gives [n / P,O].
 * Lab 14.15 */
mt_tensor *mt_sp_column_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b);
mt_tensor *mt_sp_row_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b);

/* mt_sp_sum_gradients -- after backward, of parameters that all ranks have (gains, biases of row-parallel products): a
 * rank's gradient is that by way of its own tokens, and becomes the sum over all ranks. One all-reduce of all these
 * numbers, on each rank in the order of `params`. Parameters without a gradient are left out; all ranks have the same.
 * Lab 14.15 */
void mt_sp_sum_gradients(mt_tp *tp, mt_tensor *const *params, int64_t count);

MT_C_END
