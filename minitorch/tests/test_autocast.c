/* test_autocast.c -- products under autocast: values and gradients are those of f32 products of rounded operands; saved
 * operands have 16 bits, and backward uses them; parameters are converted once per update. */
#include "aborts.h"
#include "amp/amp.h"
#include "autograd/tape.h"
#include "core/dtype.h"
#include "core/rng.h"
#include "fused/fused.h"
#include "fused/kernels_fused.h"
#include "amp/autocast.h"
#include "amp/kernels_16bit.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

TestSuite(autocast, .init = mt_fused_use);

static mt_rng rng;

static mt_tensor *normal(mt_shape shape, bool wants_grad)
{
    mt_tensor *t = mt_normal(shape, 0, 1, &rng);
    t->requires_grad = wants_grad;
    return t;
}

/* A leaf with the values that t has in dtype. */
static mt_tensor *rounded(mt_tensor *t, mt_dtype dtype)
{
    mt_tensor *copy = mt_tensor_packed(t);
    for (int64_t i = 0; i < mt_numel(t); i++) {
        float x = mt_f32(copy)[i];
        mt_f32(copy)[i] = dtype == MT_F16 ? mt_f16_to_f32(mt_f16_from_f32(x)) : mt_bf16_to_f32(mt_bf16_from_f32(x));
    }
    copy->requires_grad = t->requires_grad;
    return copy;
}

/* terms: how many products each element sums; their sizes are below about 4 x 4. */
static void expect_near(const char *what, mt_tensor *got, mt_tensor *want, int64_t terms)
{
    cr_assert(mt_shape_equal(mt_view_shape(&got->view), mt_view_shape(&want->view)), "%s", what);
    for (int64_t i = 0; i < mt_numel(got); i++)
        cr_assert_float_eq(mt_f32(got)[i], mt_f32(want)[i], (double)terms * 16 * 0x1p-24, "%s[%d]: %g for %g", what,
                           (int)i, mt_f32(got)[i], mt_f32(want)[i]);
}

typedef mt_tensor *product_fn(mt_tensor *a, mt_tensor *b, mt_tensor *c);

static mt_tensor *linear(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    return mt_linear(x, w, b);
}

static mt_tensor *matmul(mt_tensor *a, mt_tensor *b, mt_tensor *unused)
{
    (void)unused;
    return mt_matmul(a, b);
}

static mt_tensor *by_transposed(mt_tensor *a, mt_tensor *b, mt_tensor *unused)
{
    (void)unused;
    return mt_matmul(a, mt_transpose(b, 0, 1));
}

/* The output's gradient is representable in 16 bits in both, so that rounding does not change it. */
static void compare(product_fn *product, mt_dtype dtype, mt_shape sa, mt_shape sb, mt_shape sc, int64_t terms)
{
    mt_scope_begin();
    mt_tensor *a = normal(sa, true), *b = normal(sb, true), *c = normal(sc, true);
    mt_tensor *ra = rounded(a, dtype), *rb = rounded(b, dtype), *rc = mt_tensor_packed(c);
    rc->requires_grad = true;
    mt_autocast_begin(dtype);
    mt_tensor *got = product(a, b, c);
    mt_autocast_end();
    mt_tensor *want = product(ra, rb, rc);
    cr_assert_eq(got->dtype, MT_F32, "sums are f32");
    expect_near("out", got, want, terms);
    mt_tensor *dout = rounded(normal(mt_view_shape(&got->view), false), dtype);
    mt_backward_from(got, dout);
    mt_backward_from(want, dout);
    expect_near("da", a->grad, ra->grad, 200);
    expect_near("db", b->grad, rb->grad, 200);
    cr_assert_eq(a->grad->dtype, MT_F32, "gradients are f32");
    if (c->grad)
        expect_near("dc", c->grad, rc->grad, 200);
    mt_scope_end();
}

Test(autocast, products_read_rounded_operands)
{
    rng = mt_rng_new(3, 0);
    for (int type = 0; type < 2; type++) {
        mt_dtype dtype = type ? MT_F16 : MT_BF16;
        compare(linear, dtype, MT_SHAPE(33, 31), MT_SHAPE(31, 7), MT_SHAPE(7), 31);
        compare(linear, dtype, MT_SHAPE(2, 5, 1), MT_SHAPE(1, 1), MT_SHAPE(1), 1);
        compare(matmul, dtype, MT_SHAPE(3, 5, 31), MT_SHAPE(3, 31, 4), MT_SHAPE(1), 31);
        compare(matmul, dtype, MT_SHAPE(3, 5, 31), MT_SHAPE(31, 4), MT_SHAPE(1), 31);
        compare(by_transposed, dtype, MT_SHAPE(5, 31), MT_SHAPE(4, 31), MT_SHAPE(1), 31);
    }
}

Test(autocast, the_classifier_reads_rounded_operands)
{
    enum { N = 6, C = 31, V = 11, CLASSES = 9 };
    rng = mt_rng_new(4, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(N, C), true), *w = normal(MT_SHAPE(V, C), true);
    mt_tensor *rx = rounded(x, MT_BF16), *rw = rounded(w, MT_BF16);
    mt_tensor *target = mt_from(MT_SHAPE(N), MT_I32, (int32_t[]){ 0, 8, 3, 3, 1, 5 });
    mt_autocast_begin(MT_BF16);
    mt_tensor *got = mt_classifier(x, w, target, CLASSES);
    mt_autocast_end();
    mt_tensor *want = mt_classifier(rx, rw, target, CLASSES);
    cr_assert_float_eq(mt_item(got), mt_item(want), 1e-4);
    mt_backward(got);
    mt_backward(want);
    /* dlogits is rounded: each is at most 1 / N and loses half of a 2^-8. */
    for (int64_t i = 0; i < N * C; i++)
        cr_assert_float_eq(mt_f32(x->grad)[i], mt_f32(rx->grad)[i], 2 * 4 * 0x1p-9 / N, "dx[%d]", (int)i);
    for (int64_t i = 0; i < V * C; i++)
        cr_assert_float_eq(mt_f32(w->grad)[i], mt_f32(rw->grad)[i], 2 * 4 * 0x1p-9, "dw[%d]", (int)i);
    mt_scope_end();
}

Test(autocast, forward_keeps_16_bits_and_backward_does_not_ask)
{
    rng = mt_rng_new(5, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(4, 3), true), *w = normal(MT_SHAPE(3, 2), true);
    mt_autocast_begin(MT_BF16);
    mt_tensor *out = mt_linear(x, w, NULL);
    mt_autocast_end();
    for (int i = 0; i < out->node->saved_count; i++)
        cr_assert_eq(out->node->saved[i].tensor->dtype, MT_BF16, "saved tensor %d", i);
    mt_autocast_begin(MT_F16);
    mt_backward(mt_sum(out));
    mt_autocast_end();
    mt_scope_end();
}

/* t as if a product had computed it in dtype. */
static mt_tensor *of_product(mt_tensor *t, mt_dtype dtype)
{
    t->precision = dtype;
    return t;
}

/* What backward reads for h, saved in 16 bits, is h rounded, also if h has been overwritten or freed since. */
Test(autocast, what_other_ops_save_comes_back_rounded)
{
    rng = mt_rng_new(8, 0);
    for (int k = 0; k < 2; k++) {
        mt_scope_begin();
        mt_tensor *x = normal(MT_SHAPE(5, 7), true), *rx = rounded(x, MT_BF16), *beta = normal(MT_SHAPE(7), true),
                  *dout = normal(MT_SHAPE(5, 7), false);
        mt_autocast_begin(MT_BF16);
        mt_scope_begin();
        mt_tensor *h = of_product(mt_scale(x, 1), MT_BF16), *out = mt_retain(k ? mt_bias_gelu(h, beta) : mt_gelu(h));
        mt_f32(h)[0] = 100;
        mt_written(h);
        mt_scope_end();
        mt_autocast_end();
        cr_assert_eq(out->node->saved[0].tensor->dtype, MT_BF16);
        mt_backward_from(out, dout);
        mt_backward_from(k ? mt_bias_gelu(rx, beta) : mt_gelu(rx), dout);
        cr_assert_eq(memcmp(mt_f32(x->grad), mt_f32(rx->grad), 35 * sizeof(float)), 0);
        mt_release(out);
        mt_scope_end();
    }
}

/* What layernorm saves, x and gamma, it saves itself: neither may be written. */
Test(autocast, what_is_saved_in_f32_must_not_be_written)
{
    rng = mt_rng_new(8, 0);
    for (int k = 0; k < 2; k++) {
        mt_scope_begin();
        mt_tensor *x = normal(MT_SHAPE(5, 7), true), *gamma = normal(MT_SHAPE(7), true),
                  *beta = normal(MT_SHAPE(7), true);
        mt_autocast_begin(MT_BF16);
        mt_tensor *h = mt_scale(x, 1), *out = mt_layernorm(h, gamma, beta, 1e-5f);
        mt_autocast_end();
        mt_written(k ? gamma : h);
        ABORTS("written in place since", mt_backward(mt_sum(out)));
        mt_scope_end();
    }
}

/* A product keeps a copy of w. Writing to w changes no bit of it, so backward goes on with forward's values; AdamW
 * writes to the copy as well, and backward refuses it. */
Test(autocast, only_a_copy_that_was_written_is_stale)
{
    rng = mt_rng_new(11, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(5, 7), true), *w = normal(MT_SHAPE(7, 3), true),
              *dout = normal(MT_SHAPE(5, 3), false);
    mt_tensor *rx = rounded(x, MT_BF16), *rw = rounded(w, MT_BF16), *rd = rounded(dout, MT_BF16);
    mt_optim *adamw = mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW));
    mt_optim_add(adamw, "w", w);
    mt_amp *amp = mt_amp_new(adamw, MT_BF16);
    mt_autocast_begin(MT_BF16);
    mt_tensor *out = mt_matmul(x, w), *later = mt_matmul(x, w);
    mt_autocast_end();
    mt_tensor *copy = w->cast;
    w->cast = NULL; /* hide the copy from the update of w */
    mt_backward_from(out, dout);
    mt_optim_step(adamw);
    w->cast = copy;
    mt_zero_grad(x);
    mt_backward_from(later, dout);
    mt_backward_from(mt_matmul(rx, rw), rd);
    expect_near("dx after w was written", x->grad, rx->grad, 3);
    mt_autocast_begin(MT_BF16);
    out = mt_matmul(x, w);
    mt_autocast_end();
    mt_optim_step(adamw);
    ABORTS("written in place since", mt_backward_from(out, dout));
    mt_amp_free(amp);
    mt_optim_free(adamw);
    mt_scope_end();
}

Test(autocast, a_tensor_with_two_users_is_kept_once)
{
    rng = mt_rng_new(9, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(6, 8), true), *u = normal(MT_SHAPE(8, 8), true), *w = normal(MT_SHAPE(8, 4), true);
    mt_autocast_begin(MT_F16);
    mt_tensor *h = mt_relu(mt_linear(x, u, NULL)), *y = mt_linear(h, w, NULL), *z = mt_linear(h, w, NULL);
    mt_autocast_end();
    cr_expect_eq(h->node->saved[0].tensor->storage, y->node->saved[0].tensor->storage);
    cr_expect_eq(h->node->saved[0].tensor->storage, z->node->saved[0].tensor->storage);
    mt_scope_end();
}

static int conversions;

static void counted(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n)
{
    conversions++;
    mt_convert_cpu(out, to, x, from, n);
}

Test(autocast, a_parameter_is_converted_once_an_update)
{
    mt_16bit_table table = mt_16bit_cpu;
    table.convert = counted;
    rng = mt_rng_new(6, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(4, 3), false), *w = normal(MT_SHAPE(3, 2), true);
    mt_table_set(&mt_16bit_tables, MT_CPU, &table);
    mt_autocast_begin(MT_BF16);
    for (int micro = 0; micro < 3; micro++)
        mt_linear(x, w, NULL);
    int once = conversions;
    mt_f32(w)[0] = 2;
    mt_written(w);
    mt_tensor *out = mt_linear(x, w, NULL);
    int again = conversions;
    mt_autocast_end();
    mt_autocast_begin(MT_F16);
    mt_linear(x, w, NULL);
    mt_autocast_end();
    mt_table_set(&mt_16bit_tables, MT_CPU, NULL);
    cr_expect_geq(once, 4); /* x, which has no gradient, three times; w once; and the product's own conversions */
    cr_expect_eq(mt_bf16_to_f32(((mt_bf16 *)mt_data(out->node->saved[1].tensor))[0]), 2, "the old copy was used");
    cr_expect_gt(again, once);
    cr_expect_eq(w->cast->dtype, MT_F16);
    mt_scope_end();
}

Test(autocast, nests_and_leaves_other_ops_alone)
{
    void *user;
    rng = mt_rng_new(7, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(4, 4), true);
    mt_autocast_begin(MT_BF16);
    mt_autocast_begin(MT_F32);
    mt_tensor *wide = mt_linear(x, x, NULL);
    mt_autocast_end();
    mt_tensor *narrow = mt_linear(x, x, NULL), *other = mt_softmax(mt_add(x, x));
    cr_assert_eq(mt_attention(mt_reshape(mt_concat((mt_tensor *[]){ x, x, x }, 3, 1), MT_SHAPE(1, 4, 12)), 2)->dtype,
                 MT_F32, "the result of attention is f32");
    mt_autocast_end();
    cr_assert_eq(wide->node->saved[0].tensor->dtype, MT_F32);
    cr_assert_eq(narrow->node->saved[0].tensor->dtype, MT_BF16);
    cr_assert_eq(other->dtype, MT_F32);
    cr_assert_null(mt_cast_policy_get(&user));
    ABORTS("mt_autocast_end without mt_autocast_begin", mt_autocast_end());
    ABORTS("i32 is not f32, f16 or bf16", mt_autocast_begin(MT_I32));
    mt_scope_end();
}

static bool always(int64_t C, int64_t H)
{
    (void)C, (void)H;
    return true;
}

static bool never(int64_t C, int64_t H)
{
    (void)C, (void)H;
    return false;
}

/* Out and dqkv of attention over x + x [2,33,36] with 3 heads, in bf16 or with the f32 kernels. */
static void attend(float *out, float *dx, mt_tensor *x, mt_attention_bf16_pays_fn *pays)
{
    mt_gpt2_table table = *mt_gpt2_kernels(MT_CPU);
    table.attention_bf16_pays = pays;
    mt_table_set(&mt_gpt2_tables, MT_CPU, &table);
    mt_scope_begin();
    mt_autocast_begin(MT_BF16);
    mt_tensor *qkv = mt_add(x, x), *y = mt_attention(qkv, 3);
    mt_autocast_end();
    cr_expect_eq(y->node->saved[0].tensor->storage, qkv->cast->storage, "backward reads another copy than forward");
    memcpy(out, mt_f32(y), (size_t)mt_numel(y) * sizeof *out);
    mt_release(x->grad);
    x->grad = NULL;
    mt_backward(mt_sum(mt_mul(y, y)));
    memcpy(dx, mt_f32(x->grad), (size_t)mt_numel(x) * sizeof *dx);
    mt_scope_end();
    mt_fused_use();
}

Test(autocast, attention_takes_bf16_where_that_pays)
{
    enum { B = 2, T = 33, C = 12, N = B * T * C };
    float got[N], want[N], wide[N], saved[B * 3 * T], dgot[3 * N], dwide[3 * N];
    mt_bf16 qkv[3 * N];
    rng = mt_rng_new(8, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(B, T, 3 * C), true);
    for (int i = 0; i < 3 * N; i++)
        qkv[i] = mt_bf16_from_f32(2 * mt_f32(x)[i]);
    mt_attention_bf16_fwd_cpu(want, saved, qkv, B, T, C, 3);
    attend(got, dgot, x, always);
    attend(wide, dwide, x, never);
    cr_expect_arr_eq(got, want, sizeof got, "other bits than the kernel's, of the rounded qkv");
    cr_expect_arr_neq(got, wide, sizeof got);
    double size = 0, apart = 0;
    for (int i = 0; i < 3 * N; i++) {
        size += dwide[i] * dwide[i];
        apart += (dgot[i] - dwide[i]) * (dgot[i] - dwide[i]);
    }
    cr_expect(apart > 0 && apart < 0.03 * 0.03 * size, "gradients are off by %g of their size", sqrt(apart / size));
    mt_scope_end();
}

/* As recomputation does: the policy of forward, while another is in force. */
Test(autocast, a_policy_can_be_set_again_later)
{
    void *user;
    mt_autocast_begin(MT_BF16);
    mt_cast_policy *policy = mt_cast_policy_get(&user);
    mt_autocast_end();
    mt_autocast_begin(MT_F16);
    mt_cast_policy_set(policy, user);
    cr_expect_eq(mt_cast_dtype("linear", MT_OP_MATMUL, MT_F32), MT_BF16);
    mt_autocast_end();
    cr_expect_eq(mt_cast_dtype("linear", MT_OP_MATMUL, MT_F32), MT_F32);
}

#ifdef MT_DEBUG
/* Under autocast a product would read the old copy. */
Test(autocast, the_debug_flavour_notices_a_write_without_mt_written)
{
    rng = mt_rng_new(12, 0);
    mt_scope_begin();
    mt_tensor *x = normal(MT_SHAPE(4, 3), false), *w = normal(MT_SHAPE(3, 2), true);
    mt_autocast_begin(MT_BF16);
    mt_linear(x, w, NULL);
    mt_f32(w)[5] = 2;
    ABORTS("the bf16 copy of [3,2] has other values than the tensor", mt_linear(x, w, NULL));
    mt_written(w);
    mt_linear(x, w, NULL);
    mt_autocast_end();
    mt_scope_end();
}
#endif

/* After backward a result that only its scope holds has no memory any more, and neither has its copy. */
Test(autocast, a_result_is_dropped_with_its_copy)
{
    mt_scope_begin();
    mt_tensor *w = normal(MT_SHAPE(100, 100), true);
    mt_autocast_begin(MT_BF16);
    mt_tensor *y = mt_mul(w, w), *sum = mt_sum(mt_linear(y, w, NULL));
    mt_autocast_end();
    cr_assert_not_null(y->cast);
    mt_backward(sum);
    cr_expect_null(y->cast);
    mt_scope_end();
}
