/* test_autocast_values.c -- gradients under autocast where scores, means or values are large or small: attention beside
 * double precision, of the numbers that forward read; and ops that need f32, whose gradients have the bits of a step
 * without autocast. */
#include "autograd/tape.h"
#include "core/dtype.h"
#include "core/rng.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "amp/autocast.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"
#include "optim/optim.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(autocast_values, .init = mt_fused_use);

static const mt_dtype halves[] = { MT_F16, MT_BF16 };

static double in_16_bits(double x, mt_dtype dtype)
{
    return dtype == MT_F16 ? mt_f16_to_f32(mt_f16_from_f32((float)x)) : mt_bf16_to_f32(mt_bf16_from_f32((float)x));
}

/* ---- attention ------------------------------------------------------------------------------------------- */

/* T tokens of one head of D columns: qkv [T,3D] as forward reads it, and what comes of it. */
enum { T = 7, D = 4 };

typedef struct attended {
    double score[T][T], p[T][T], out[T][D], most; /* most: the largest |score| */
    double dqkv[T][3 * D], share[T][3 * D];       /* share: the sum of the absolute values of an element's terms */
} attended;

static void attend(attended *a, double (*qkv)[3 * D])
{
    *a = (attended){ 0 };
    for (int i = 0; i < T; i++) {
        double sum = 0, top = -INFINITY;
        for (int j = 0; j <= i; j++) {
            for (int c = 0; c < D; c++)
                a->score[i][j] += qkv[i][c] * qkv[j][D + c] / sqrt(D);
            top = fmax(top, a->score[i][j]);
            a->most = fmax(a->most, fabs(a->score[i][j]));
        }
        for (int j = 0; j <= i; j++)
            sum += a->p[i][j] = exp(a->score[i][j] - top);
        for (int j = 0; j <= i; j++) {
            a->p[i][j] /= sum;
            for (int c = 0; c < D; c++)
                a->out[i][c] += a->p[i][j] * qkv[j][2 * D + c];
        }
    }
}

static void add_term(attended *a, int row, int column, double term, double size)
{
    a->dqkv[row][column] += term;
    a->share[row][column] += size;
}

/* out is kept in 16 bits, as by every framework; its rounding moves the gradients of the scores. */
static void attend_back(attended *a, double (*qkv)[3 * D], double (*dout)[D])
{
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++) {
            double dp = 0, size = 0;
            for (int c = 0; c < D; c++) {
                dp += dout[i][c] * (qkv[j][2 * D + c] - a->out[i][c]);
                size += fabs(dout[i][c]) * (fabs(qkv[j][2 * D + c]) + fabs(a->out[i][c]));
                add_term(a, j, 2 * D + c, a->p[i][j] * dout[i][c], a->p[i][j] * fabs(dout[i][c]));
            }
            for (int c = 0; c < D; c++) {
                double with_k = a->p[i][j] * qkv[j][D + c] / sqrt(D), with_q = a->p[i][j] * qkv[i][c] / sqrt(D);
                add_term(a, i, c, dp * with_k, size * fabs(with_k));
                add_term(a, j, D + c, dp * with_q, size * fabs(with_q));
            }
        }
}

static bool never(int64_t C, int64_t H)
{
    (void)C, (void)H;
    return false;
}

/* u: the unit of rounding of the type. A score of size s is off by (D + 2) 2^-24 s in f32, forward's and backward's; a
 * probability then by twice that, relatively; sums of T terms; delta, of the kept result, by u of its terms. */
static void expect_gradient(mt_tensor *x, double (*dout)[D], mt_dtype dtype, double u)
{
    double qkv[T][3 * D];
    attended a;
    for (int i = 0; i < T * 3 * D; i++)
        qkv[i / (3 * D)][i % (3 * D)] = in_16_bits(mt_f32(x)[i], dtype);
    attend(&a, qkv);
    attend_back(&a, qkv, dout);
    double relative = u + 2 * ((D + 2) * a.most + 2 * T + 8) * 0x1p-23;
    for (int t = 0; t < T; t++)
        for (int j = 0; j < 3 * D; j++) {
            double got = mt_f32(x->grad)[t * 3 * D + j];
            cr_expect_float_eq(got, a.dqkv[t][j], relative * a.share[t][j] + 1e-30,
                               "%s, scores up to %.0f: dqkv[%d,%d] is %g, must be %g", mt_dtype_name(dtype), a.most, t,
                               j, got, a.dqkv[t][j]);
        }
}

Test(autocast_values, attention_has_the_gradient_of_what_it_computed)
{
    mt_gpt2_table table = *mt_gpt2_kernels(MT_CPU);
    table.attention_bf16_pays = never;
    mt_table_set(&mt_gpt2_tables, MT_CPU, &table);
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    for (int k = 0; k < 16; k++) {
        mt_dtype dtype = halves[k % 2];
        mt_scope_begin();
        mt_tensor *x = mt_normal(MT_SHAPE(1, T, 3 * D), 0, powf(2, (float)(k / 2) / 2), &rng),
                  *dy = mt_normal(MT_SHAPE(1, T, D), 0, 1, &rng);
        double dout[T][D];
        for (int i = 0; i < T * D; i++)
            dout[i / D][i % D] = mt_f32(dy)[i];
        x->requires_grad = true;
        mt_autocast_begin(dtype);
        mt_tensor *y = mt_attention(x, 1);
        mt_autocast_end();
        mt_backward_from(y, dy);
        expect_gradient(x, dout, dtype, dtype == MT_F16 ? 0x1p-11 : 0x1p-8);
        mt_zero_grad(x);
        mt_scope_end();
    }
    mt_fused_use();
}

/* One token sees itself only: whatever its score, its value's gradient is the result's. */
Test(autocast_values, one_token_has_probability_1)
{
    for (int k = 0; k < 2; k++)
        for (float at = 0.3f; at < 40; at *= 1.37f) { /* scores up to 1,600 */
            mt_scope_begin();
            mt_tensor *x = mt_full(MT_SHAPE(1, 1, 3 * D), at);
            x->requires_grad = true;
            mt_autocast_begin(halves[k]);
            mt_tensor *y = mt_attention(x, 1);
            mt_autocast_end();
            mt_backward(mt_sum(y));
            double score = 2 * (double)at * at;
            for (int c = 0; c < D; c++)
                cr_expect_float_eq(mt_f32(x->grad)[2 * D + c], 1, 2 * ((D + 2) * score + 8) * 0x1p-23,
                                   "%s, score %g: dv is %g", mt_dtype_name(halves[k]), score,
                                   (double)mt_f32(x->grad)[2 * D + c]);
            mt_zero_grad(x);
            mt_scope_end();
        }
}

/* ---- ops that need f32 ------------------------------------------------------------------------------------- */

enum { R = 3, C = 6 };

static mt_tensor *row_of(float value)
{
    mt_tensor *t = mt_full(MT_SHAPE(C), value);
    for (int i = 0; i < C; i++)
        mt_f32(t)[i] += (float)i / C;
    return t;
}

static mt_tensor *square(mt_tensor *x)
{
    return mt_mul(x, x);
}

static mt_tensor *log_softmax(mt_tensor *x)
{
    return mt_log(mt_softmax(x));
}

static mt_tensor *norm(mt_tensor *x)
{
    return mt_mul(mt_layernorm(x, row_of(1), row_of(0), 1e-5f), row_of(2));
}

static mt_tensor *quotient(mt_tensor *x)
{
    return mt_div(row_of(3), mt_mul(x, x));
}

static mt_tensor *saturated(mt_tensor *x)
{
    return mt_add(mt_sigmoid(x), mt_tanh(x));
}

static mt_tensor *exp_of_view(mt_tensor *x)
{
    return mt_exp(mt_transpose(mt_contiguous(mt_transpose(x, 0, 1)), 0, 1));
}

/* of: values whose squares, exponentials or probabilities are outside of f16, or whose differences it cannot hold. */
static const struct {
    const char *name;
    mt_tensor *(*op)(mt_tensor *x);
    float mean, stddev;
} cases[] = {
    { "x * x", square, 0, 300 },
    { "x * x, small", square, 0, 1e-6f },
    { "(x * x)^2", square, 0, 1e5f },
    { "exp", mt_exp, 12, 2 },
    { "exp, small", mt_exp, -20, 2 },
    { "exp of a view", exp_of_view, 12, 2 },
    { "log", mt_log, 1e-9f, 1e-11f },
    { "log(softmax)", log_softmax, 0, 12 },
    { "softmax", mt_softmax, 0, 12 },
    { "sqrt", mt_sqrt, 1e10f, 1e5f },
    { "3 / (x * x)", quotient, 0, 1e5f },
    { "layernorm", norm, 20, 1 },
    { "layernorm, large", norm, 1e5f, 1e3f },
    { "layernorm, small", norm, 0, 1e-9f },
    { "sigmoid + tanh", saturated, 9, 1 },
    { "gelu", mt_gelu, 7e4f, 100 },
};

static void gradient(float *dx, mt_tensor *values, int which, mt_dtype dtype)
{
    mt_scope_begin();
    mt_tensor *x = mt_tensor_packed(values);
    x->requires_grad = true;
    mt_autocast_begin(dtype);
    mt_tensor *loss = mt_sum(cases[which].op(mt_scale(x, 1)));
    mt_autocast_end();
    cr_assert(isfinite(mt_item(loss)), "%s", cases[which].name);
    mt_backward(loss);
    memcpy(dx, mt_f32(x->grad), sizeof(float) * R * C);
    mt_zero_grad(x);
    mt_scope_end();
}

Test(autocast_values, what_no_product_computed_is_kept_in_f32)
{
    mt_rng rng = mt_rng_new(4, MT_STREAM_TEST);
    for (int i = 0; i < MT_COUNT(cases); i++)
        for (int k = 0; k < 2; k++) {
            float want[R * C], got[R * C];
            mt_scope_begin();
            mt_tensor *x = mt_normal(MT_SHAPE(R, C), cases[i].mean, cases[i].stddev, &rng);
            gradient(want, x, i, MT_F32);
            gradient(got, x, i, halves[k]);
            cr_expect_arr_eq(got, want, sizeof got, "%s in %s: %g, without autocast %g", cases[i].name,
                             mt_dtype_name(halves[k]), (double)got[0], (double)want[0]);
            mt_scope_end();
        }
}

/* A product's result x is read by ops that need f32: their gradient is that of x as it is. */
Test(autocast_values, reductions_of_products_keep_f32)
{
    for (int k = 0; k < 2; k++) {
        float want[C], got[C];
        for (int type = 0; type < 2; type++) {
            mt_rng same = mt_rng_new(6 + (uint64_t)k, MT_STREAM_TEST);
            mt_scope_begin();
            mt_tensor *a = mt_normal(MT_SHAPE(R, C), 8, 0.01f, &same), *b = mt_full(MT_SHAPE(C, C), 1),
                      *gamma = row_of(1), *dout = mt_normal(MT_SHAPE(R, C), 0, 1, &same);
            for (int64_t i = 0; i < R * C; i++) /* exact in both types */
                mt_f32(a)[i] = (float)in_16_bits(mt_f32(a)[i], halves[k]);
            for (int64_t i = 0; i < C * C; i++)
                mt_f32(b)[i] = (float)(1 + (i % (C + 1) == 0));
            b->requires_grad = gamma->requires_grad = true;
            mt_autocast_begin(type ? halves[k] : MT_F32);
            mt_tensor *y = mt_layernorm(mt_matmul(a, b), gamma, row_of(0), 1e-5f);
            mt_autocast_end();
            mt_backward_from(y, dout);
            memcpy(type ? got : want, mt_f32(gamma->grad), sizeof got);
            mt_zero_grad(b);
            mt_zero_grad(gamma);
            mt_scope_end();
        }
        /* The products' sums of C terms, about 64, may be added in another order; divided by a deviation near 0.01. */
        for (int c = 0; c < C; c++)
            cr_expect_float_eq(got[c], want[c], R * 4 * (C + 2) * 0x1p-24 * 64 / 0.01, "%s: dgamma[%d] %g, want %g",
                               mt_dtype_name(halves[k]), c, (double)got[c], (double)want[c]);
    }
}
