/* op_oracles.h -- the formulas of ops/ops.h in numbers that carry their error bounds: what op_cases.c puts in its
 * table. All arrays are dense and row-major; shapes and arguments are the case's. */
#pragma once

#include "testing/op_cases.h"

typedef void mt_op_oracle(mt_approx *out, const mt_approx *const *in, const mt_op_case *c);

mt_op_oracle mt_oracle_add, mt_oracle_sub, mt_oracle_mul, mt_oracle_div;
mt_op_oracle mt_oracle_scale, mt_oracle_neg, mt_oracle_exp, mt_oracle_log, mt_oracle_sqrt, mt_oracle_relu;
mt_op_oracle mt_oracle_sigmoid, mt_oracle_tanh, mt_oracle_gelu, mt_oracle_gelu_tanh;
mt_op_oracle mt_oracle_sum, mt_oracle_mean, mt_oracle_sum_dim, mt_oracle_max_dim; /* arg[0]: dim, not negative */
mt_op_oracle mt_oracle_same_order;                                                /* reshape, contiguous */
mt_op_oracle mt_oracle_permute;                                                   /* arg: order */
mt_op_oracle mt_oracle_slice;                                                     /* arg: dim, start, stop, step */
mt_op_oracle mt_oracle_broadcast;
mt_op_oracle mt_oracle_concat; /* arg[0]: dim */
mt_op_oracle mt_oracle_gather; /* in[1]: ids */
mt_op_oracle mt_oracle_matmul;
mt_op_oracle mt_oracle_linear;
mt_op_oracle mt_oracle_softmax;
mt_op_oracle mt_oracle_layernorm; /* eps: MT_CASE_EPS */
mt_op_oracle mt_oracle_linear_gelu;
mt_op_oracle mt_oracle_cross_entropy; /* in[1]: labels */
mt_op_oracle mt_oracle_embedding;     /* in[2]: ids */
mt_op_oracle mt_oracle_attention;     /* arg[0]: heads */
mt_op_oracle mt_oracle_classifier;    /* in[2]: targets; arg[0]: classes */
mt_op_oracle mt_oracle_dropout;       /* p: arg[0] / 8; mask: the start of MT_CASE_RNG */

#define MT_CASE_FACTOR -2.5f
#define MT_CASE_EPS    1e-5f
#define MT_CASE_RNG    mt_rng_new(11, MT_STREAM_DROPOUT)
