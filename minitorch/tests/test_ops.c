/* test_ops.c -- every op of ops.h over the table of testing/op_cases.h: values, gradients, layouts, accumulation, the
 * same bits for every thread count. Then what the table does not cover: ties, NaN, argmax, saved tensors, misuse. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"

#include "aborts.h"
#include "op_trials.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* ---- over the table -------------------------------------------------------------------------------- */

Test(ops, values_and_gradients_of_every_case, .timeout = 300)
{
    for_all(right_and_added);
}

Test(ops, a_gradient_does_not_depend_on_who_else_wants_one, .timeout = 300)
{
    for_all(alone_as_together);
}

Test(ops, without_a_tape_values_are_the_same, .timeout = 300)
{
    for_all(nothing_recorded);
}

Test(ops, same_bits_for_any_number_of_threads, .timeout = 300)
{
    for_all(same_bits);
}

/* ---- what the table does not say ----------------------------------------------------------------------- */

static mt_tensor *leaf(mt_shape shape, const float *data)
{
    mt_tensor *t = mt_from(shape, MT_F32, data);
    t->requires_grad = true;
    return t;
}

Test(ops, max_takes_the_first_of_equals_and_never_loses_a_nan)
{
    mt_scope_begin();
    mt_tensor *x = leaf(MT_SHAPE(2, 3), (float[]){ 4, 7, 7, NAN, 1, NAN });
    mt_tensor *at = mt_argmax(x), *max = mt_max_dim(x, 1);
    cr_assert(((int64_t *)mt_data(at))[0] == 1 && ((int64_t *)mt_data(at))[1] == 0);
    cr_assert(mt_f32(max)[0] == 7 && isnan(mt_f32(max)[1]));
    mt_backward(mt_sum(max));
    cr_assert_arr_eq(mt_f32(x->grad), ((float[]){ 0, 1, 0, 1, 0, 0 }), 6 * sizeof(float));
    mt_scope_end();
}

Test(ops, argmax_of_any_layout)
{
    mt_scope_begin();
    mt_tensor *x = mt_from(MT_SHAPE(2, 3), MT_F32, (float[]){ 1, 5, 2, 4, 0, 3 });
    const int64_t *at = mt_data(mt_argmax(mt_transpose(x, 0, 1)));
    cr_assert(at[0] == 1 && at[1] == 0 && at[2] == 1);
    cr_assert_eq(mt_argmax(x)->dtype, MT_I64);
    mt_scope_end();
}

/* Broadcast batch dimensions: the iteration must handle a stride of 0 between matrices. */
Test(ops, matmul_of_a_broadcast_batch)
{
    mt_scope_begin();
    mt_tensor *a = leaf(MT_SHAPE(2, 1, 1, 2), (float[]){ 1, 2, 3, 4 });
    mt_tensor *b = leaf(MT_SHAPE(2, 1), (float[]){ 10, 100 });
    mt_tensor *out = mt_matmul(mt_broadcast_to(a, MT_SHAPE(2, 3, 1, 2)), mt_broadcast_to(b, MT_SHAPE(2, 3, 2, 1)));
    for (int i = 0; i < 6; i++)
        cr_assert_eq(mt_f32(out)[i], i < 3 ? 210 : 430);
    mt_backward(mt_sum(out));
    cr_assert_arr_eq(mt_f32(a->grad), ((float[]){ 30, 300, 30, 300 }), 4 * sizeof(float));
    cr_assert_arr_eq(mt_f32(b->grad), ((float[]){ 12, 18 }), 2 * sizeof(float));
    mt_scope_end();
}

Test(ops, dropout_goes_on_in_its_stream)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_DROPOUT), again = rng;
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(1001), 1), *a = mt_dropout(x, 0.5f, &rng), *b = mt_dropout(x, 0.5f, &rng);
    cr_assert_eq(rng.counter, 2 * 251, "a block for every four elements");
    must(mt_compare_bits("the same stream again", mt_f32(mt_dropout(x, 0.5f, &again)), mt_f32(a), 1001));
    int same = 0;
    for (int i = 0; i < 1001; i++) {
        cr_assert(mt_f32(a)[i] == 0 || mt_f32(a)[i] == 2);
        same += mt_f32(a)[i] == mt_f32(b)[i];
    }
    cr_assert(abs(same - 500) < 100, "%d of 1001 masks agree: expected about half (6 sigma are 95)", same);
    mt_scope_end();
}

/* The backward of a sum reads no operand: writing into them afterwards is allowed, and they are not kept. */
Test(ops, only_what_backward_reads_is_saved)
{
    mt_scope_begin();
    mt_tensor *x = leaf(MT_SHAPE(2), (float[]){ 1, 2 }), *plain = mt_full(MT_SHAPE(2), 3);
    cr_assert_eq(mt_add(x, plain)->node->saved_count, 0);
    cr_assert_eq(mt_sub(plain, x)->node->saved_count, 0);
    cr_assert_eq(mt_mul(x, plain)->node->saved_count, 1);
    cr_assert_eq(mt_mul(x, x)->node->saved_count, 2);
    cr_assert_eq(mt_div(x, plain)->node->saved_count, 1);
    cr_assert_eq(mt_div(plain, x)->node->saved_count, 2);
    cr_assert_eq(mt_scale(x, 2)->node->saved_count, 0);
    mt_tensor *y = mt_mul(x, plain);
    mt_written(x); /* not saved: only plain was */
    mt_backward(mt_sum(y));
    cr_assert_arr_eq(mt_f32(x->grad), ((float[]){ 3, 3 }), 2 * sizeof(float));
    mt_scope_end();
}

/* ---- misuse ---------------------------------------------------------------------------------------------- */

Test(ops, wrong_shapes_are_reported)
{
    mt_scope_begin();
    mt_tensor *a = mt_full(MT_SHAPE(64, 784), 0), *b = mt_full(MT_SHAPE(512, 10), 0), *v = mt_full(MT_SHAPE(5), 0);
    mt_tensor *batch = mt_full(MT_SHAPE(2, 3, 4), 0), *other = mt_full(MT_SHAPE(3, 4, 5), 0),
              *s = mt_full(MT_SCALAR, 0);
    mt_tensor *none = mt_full(MT_SHAPE(0, 4), 0), *label = mt_zeros(MT_SHAPE(7), MT_I32, MT_CPU);
    ABORTS("add: a is [64,784], b is [512,10]: they do not broadcast", mt_add(a, b));
    ABORTS("matmul: A is [64,784], B is [512,10]: inner sizes 784 and 512 differ", mt_matmul(a, b));
    ABORTS("matmul: A is [5], B is [512,10]: both need two dimensions", mt_matmul(v, b));
    ABORTS("matmul: A is [2,3,4], B is [3,4,5]: batch dimensions differ", mt_matmul(batch, other));
    ABORTS("linear: x is [64,784], w is [512,10]: w must be [784, outputs]", mt_linear(a, b, NULL));
    ABORTS("linear: w is [512,10], b is [5]: b must be [10]", mt_linear(mt_full(MT_SHAPE(1, 512), 0), b, v));
    ABORTS("linear: a scalar has no last dimension", mt_linear(s, b, NULL));
    ABORTS("softmax: a scalar has no last dimension", mt_softmax(s));
    ABORTS("softmax: the rows of [3,0] are empty", mt_softmax(mt_full(MT_SHAPE(3, 0), 0)));
    ABORTS("cross_entropy: logits are [64,784], label is [7]: they must be [N,C] and [N]", mt_cross_entropy(a, label));
    ABORTS("the mean over no rows", mt_cross_entropy(none, mt_zeros(MT_SHAPE(0), MT_I32, MT_CPU)));
    ABORTS("layernorm: x is [64,784], gamma is [5], beta is [5]: both must be [784]", mt_layernorm(a, v, v, 1e-5f));
    ABORTS("layernorm: eps is 0, it must be positive", mt_layernorm(v, v, v, 0));
    ABORTS("gather_rows: table is [5], ids are i32 [7]", mt_gather_rows(v, label));
    ABORTS("sum_dim: [64,784] has no dimension 2", mt_sum_dim(a, 2));
    ABORTS("max_dim: [0,4] has nothing along dimension 0", mt_max_dim(none, 0));
    ABORTS("mean: [0,4] has no elements", mt_mean(none));
    ABORTS("concat: part 0 is [64,784], part 1 is [512,10]", mt_concat((mt_tensor *[]){ a, b }, 2, 0));
    ABORTS("concat: [5] has no dimension 1", mt_concat(&v, 1, 1));
    ABORTS("concat: [5] has no dimension -2", mt_concat(&v, 1, -2));
    ABORTS("concat: no parts", mt_concat(NULL, 0, 0));
    ABORTS("dropout: p is 1, it must be in [0, 1)", mt_dropout(v, 1, &(mt_rng){ 0 }));
    mt_scope_end();
}

Test(ops, wrong_types_and_values_are_reported)
{
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(2, 3), 0), *ids = mt_zeros(MT_SHAPE(2, 3), MT_I32, MT_CPU);
    mt_tensor *label = mt_from(MT_SHAPE(2), MT_I32, (int32_t[]){ 0, 3 });
    ABORTS("add: [2,3] is i32, it must be f32", mt_add(x, ids));
    ABORTS("matmul: [2,3] is i32, it must be f32", mt_matmul(ids, x));
    ABORTS("relu: [2,3] is i32, it must be f32", mt_relu(ids));
    ABORTS("sum: [2,3] is i32, it must be f32", mt_sum(ids));
    ABORTS("softmax: [2,3] is i32, it must be f32", mt_softmax(ids));
    ABORTS("concat: [2,3] is i32, it must be f32", mt_concat(&ids, 1, 0));
    ABORTS("gather_rows: [2,3] is i32, it must be f32", mt_gather_rows(ids, ids));
    ABORTS("ids are f32 [2,3]: they must be [V,C] and i32", mt_gather_rows(x, x));
    ABORTS("cross_entropy: label is f32, it must be i32", mt_cross_entropy(x, mt_full(MT_SHAPE(2), 0)));
    ABORTS("label[1] is 3, but the classes are 0 .. 2", mt_cross_entropy(x, label));
    ABORTS("id[1] is 3, the table has 2 rows", mt_gather_rows(x, label));
    mt_scope_end();
}

Test(ops, a_result_that_backward_freed_is_refused)
{
    mt_scope_begin();
    mt_tensor *x = leaf(MT_SHAPE(2), (float[]){ 1, 2 }), *y = mt_relu(x);
    mt_backward(mt_sum(y));
    ABORTS("add: [2] was freed by mt_backward", mt_add(x, y));
    ABORTS("relu: [2] was freed by mt_backward", mt_relu(y));
    mt_scope_end();
}

/* Squares of 1e25 overflow f32: the result must be NaN, not a row of zeros, which would hide it. */
Test(ops, layernorm_of_a_row_too_large_is_nan)
{
    const float x[6] = { 1e25f, 0, 5, 1, 2, 3 }, one[3] = { 1, 1, 1 }, zero[3] = { 0 };
    float out[6], mean[2], rstd[2];
    mt_layernorm_fwd_cpu(out, mean, rstd, x, one, zero, 2, 3, 1e-5f);
    cr_assert(isnan(out[0]) && isnan(out[1]) && isnan(out[2]) && isnan(rstd[0]), "%g %g %g", (double)out[0],
              (double)out[1], (double)out[2]);
    cr_assert(isfinite(out[3]) && isfinite(out[4]) && isfinite(out[5]));
}
