/* ops.h -- operations on tensors: shapes are checked, the result is allocated in the scope, the device's kernel runs,
 * and the tape records what backward needs. Every result belongs to the current scope (core/scope.h).
 *
 * f32 unless said. Inputs may be any view: ops that need dense rows copy them (mt_contiguous). A wrong shape aborts
 * with a message that has both shapes. Call them inside a scope: it also frees an op's intermediate tensors. One table,
 * testing/op_cases.c, checks every op below. */
#pragma once

#include "core/scope.h"
#include "core/tensor.h"

MT_C_BEGIN

/* ---- element by element; shapes broadcast as in view.h ------------------------------------------ */
mt_tensor *mt_add(mt_tensor *a, mt_tensor *b);
mt_tensor *mt_sub(mt_tensor *a, mt_tensor *b);
mt_tensor *mt_mul(mt_tensor *a, mt_tensor *b);
mt_tensor *mt_div(mt_tensor *a, mt_tensor *b);
mt_tensor *mt_scale(mt_tensor *x, float factor); /* factor * x */
mt_tensor *mt_neg(mt_tensor *x);
mt_tensor *mt_exp(mt_tensor *x);
mt_tensor *mt_log(mt_tensor *x);
mt_tensor *mt_sqrt(mt_tensor *x);
mt_tensor *mt_relu(mt_tensor *x);
mt_tensor *mt_sigmoid(mt_tensor *x);
mt_tensor *mt_tanh(mt_tensor *x);
mt_tensor *mt_gelu(mt_tensor *x);
mt_tensor *mt_gelu_tanh(mt_tensor *x);

/* ---- reductions ------------------------------------------------------------------------------------ */
mt_tensor *mt_sum(mt_tensor *x);              /* [] */
mt_tensor *mt_mean(mt_tensor *x);             /* []; aborts: no elements */
mt_tensor *mt_sum_dim(mt_tensor *x, int dim); /* without dimension dim */
mt_tensor *mt_max_dim(mt_tensor *x, int dim); /* gradient goes to the first largest */
mt_tensor *mt_argmax(mt_tensor *x);           /* i64, over the last dimension; no gradient */

/* ---- views: share memory, gradients flow back through the same view ---------------------------------- */
mt_tensor *mt_reshape(mt_tensor *t, mt_shape shape); /* copies when the strides do not allow it */
mt_tensor *mt_permute(mt_tensor *t, const int *order);
mt_tensor *mt_transpose(mt_tensor *t, int d0, int d1);
mt_tensor *mt_slice(mt_tensor *t, int dim, int64_t start, int64_t stop, int64_t step);
mt_tensor *mt_broadcast_to(mt_tensor *t, mt_shape shape);
mt_tensor *mt_contiguous(mt_tensor *t); /* t itself when it already is */

/* ---- joining, picking --------------------------------------------------------------------------------- */
mt_tensor *mt_concat(mt_tensor *const *parts, int count, int dim);
mt_tensor *mt_gather_rows(mt_tensor *table,
                          mt_tensor *ids); /* table [V,C], ids i32 of any shape S: [S...,C] (embedding) */

/* ---- layers --------------------------------------------------------------------------------------------- */
mt_tensor *mt_matmul(mt_tensor *a, mt_tensor *b); /* [...,M,K] x [...,K,N]; leading dimensions equal, or b is 2-d */
mt_tensor *mt_linear(mt_tensor *x, mt_tensor *w, mt_tensor *b);   /* x [...,I], w [I,O], b [O] or NULL: [...,O] */
mt_tensor *mt_softmax(mt_tensor *x);                              /* over the last dimension */
mt_tensor *mt_dropout(mt_tensor *x, float p, mt_rng *rng);        /* zero with probability p, the rest / (1 - p) */
mt_tensor *mt_cross_entropy(mt_tensor *logits, mt_tensor *label); /* logits [N,C], label i32 [N]: mean loss [] */

MT_C_END
