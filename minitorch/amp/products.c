/* products.c -- the CPU's table of the kernels for 16-bit floats; and products of such operands for the ops
 * (ops/policy.h, models/gpt2_ops.h), composed of the device's mt_matmul16 and of kernels of f32: those of a bias, a
 * loss, or attention.
 *
 * In a backward product the gradient becomes an operand too, rounded to 16 bits. */
#include "amp/autocast.h"
#include "models/gpt2_ops.h"
#include "ops/call.h"
#include "amp/kernels_16bit.h"
#include "kernels/vec16.h"
#include "models/kernels_gpt2.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table of the CPU, with the fastest product for each type ---------------------------------------- */

static bool in_pairs(mt_dtype dtype)
{
    return dtype == MT_BF16 && mt_pairs_are_fast();
}

const char *mt_matmul16_form(mt_dtype dtype)
{
    if (dtype == MT_BF16 && mt_has_amx())
        return "multiplied in tiles (AMX)";
    return in_pairs(dtype) ? "multiplied in pairs (vdpbf16ps)" : "widened to f32 in blocks";
}

static void matmul16(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *dims)
{
    enum { ENOUGH = 16 }; /* a tile of AMX is mostly empty below */
    if (dtype == MT_BF16 && mt_min(dims->M, dims->N) >= ENOUGH && mt_has_amx())
        mt_matmul_amx(c, a, b, dims);
    else if (in_pairs(dtype))
        mt_matmul_bf16_cpu(c, a, b, dims);
    else
        mt_matmul16_cpu(c, a, b, dtype, dims);
}

const mt_16bit_table mt_16bit_cpu = { mt_convert_cpu, matmul16, mt_unscale_grads_cpu };
MT_TABLES_DEFINE(16bit)

/* ---- operands -------------------------------------------------------------------------------------------- */

/* The debug flavour converts t once more: a copy of other values was made before t was written through mt_f32. */
static mt_tensor *operand(mt_tensor *t, mt_dtype dtype)
{
    mt_tensor *copy = mt_autocast_operand(t, dtype);
#ifdef MT_DEBUG
    int64_t bytes = mt_numel(t) * mt_dtype_size(dtype);
    void *again = mt_device_of(t) == MT_CPU ? mt_realloc(NULL, bytes + 1, 1) : NULL;
    if (again)
        mt_16bit_kernels(MT_CPU)->convert(again, dtype, mt_data(t), t->dtype, mt_numel(t));
    MT_CHECK(!again || memcmp(again, mt_data(copy), (size_t)bytes) == 0,
             "the %s copy of %s has other values than the tensor: mt_written(t) belongs after a write through mt_f32",
             mt_dtype_name(dtype), mt_text_of(t));
    free(again);
#endif
    return copy;
}

/* The values of an operand in f32, in the scope. */
static const float *widened(const mt_tensor *t)
{
    mt_tensor *wide = mt_empty(mt_shape_of(t), MT_F32, mt_device_of(t));
    mt_16bit_kernels(mt_device_of(t))->convert(mt_data(wide), MT_F32, mt_data(t), t->dtype, mt_numel(t));
    return mt_f32(wide);
}

/* ---- products of matrices -------------------------------------------------------------------------------- */

static void matmul(mt_device device, float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *dims)
{
    mt_16bit_kernels(device)->matmul16(c, a, b, dtype, dims);
}

/* c [M,N] = or += op(a) op(b), dense; nothing when c is NULL. */
static void product(float *c, const mt_tensor *a, const mt_tensor *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                    mt_trans trans_b, mt_write write)
{
    mt_matmul_dims dims = mt_dense_dims(M, N, K, trans_a, trans_b, write);
    if (c)
        matmul(mt_device_of(a), c, mt_data(a), mt_data(b), a->dtype, &dims);
}

/* Rows of b are the product with no inputs. */
static void linear_fwd(mt_tensor *out, mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    int64_t N = mt_rows(x), I = w->view.shape[0], O = w->view.shape[1];
    if (b)
        mt_kernels(mt_device_of(x))->linear_fwd(mt_f32(out), NULL, NULL, mt_f32(b), N, 0, O);
    product(mt_f32(out), x, w, N, O, I, MT_NO_TRANS, MT_NO_TRANS, b ? MT_ACCUMULATE : MT_OVERWRITE);
}

static void linear_bwd(float *dx, float *dw, float *db, mt_tensor *dout, mt_tensor *x, mt_tensor *w)
{
    int64_t N = mt_rows(x), I = w->view.shape[0], O = w->view.shape[1];
    mt_scope_begin();
    const mt_tensor *d = operand(dout, x->dtype);
    product(dx, d, w, N, I, O, MT_NO_TRANS, MT_TRANS, MT_ACCUMULATE);
    product(dw, x, d, I, O, N, MT_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    mt_scope_end();
    if (db)
        mt_kernels(mt_device_of(x))->linear_bwd(NULL, NULL, db, mt_f32(dout), NULL, NULL, N, 0, O);
}

static void classifier_fwd(mt_tensor *loss, mt_tensor *probs, mt_tensor *x, mt_tensor *w, mt_tensor *target)
{
    int64_t N = probs->view.shape[0], V = probs->view.shape[1];
    product(mt_f32(probs), x, w, N, V, mt_dim(w, 1), MT_NO_TRANS, MT_TRANS, MT_OVERWRITE);
    mt_kernels(mt_device_of(x))->cross_entropy_fwd(mt_f32(loss), mt_f32(probs), mt_f32(probs), mt_data(target), N, V);
}

/* The f32 kernel without products makes the gradient of the logits. */
static void classifier_bwd(float *dx, float *dw, mt_tensor *probs, const float *dloss, mt_tensor *x, mt_tensor *w,
                           mt_tensor *target)
{
    int64_t N = probs->view.shape[0], V = probs->view.shape[1], C = mt_dim(w, 1);
    mt_gpt2_kernels(mt_device_of(x))
        ->classifier_bwd(NULL, NULL, mt_f32(probs), dloss, NULL, NULL, mt_data(target), N, C, V);
    mt_scope_begin();
    const mt_tensor *d = operand(probs, x->dtype);
    product(dx, d, w, N, C, V, MT_NO_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    product(dw, d, x, V, C, N, MT_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    mt_scope_end();
}

/* ---- attention ------------------------------------------------------------------------------------------- */

/* Forward and backward read the same numbers: the scores of rounded queries and keys do not fit the logarithm of the
 * sum that forward saves of others. */
static void attention_fwd(mt_tensor *out, mt_tensor *saved, mt_tensor *qkv, int64_t heads)
{
    const mt_gpt2_table *kernels = mt_gpt2_kernels(mt_device_of(qkv));
    const int64_t *d = out->view.shape;
    mt_scope_begin();
    if (qkv->dtype == MT_BF16 && kernels->attention_bf16_pays && kernels->attention_bf16_pays(d[2], heads))
        kernels->attention_bf16_fwd(mt_f32(out), mt_f32(saved), mt_data(qkv), d[0], d[1], d[2], heads);
    else
        kernels->attention_fwd(mt_f32(out), mt_f32(saved), widened(qkv), d[0], d[1], d[2], heads);
    mt_scope_end();
}

static void attention_bwd(float *dqkv, mt_tensor *dout, mt_tensor *qkv, mt_tensor *out, mt_tensor *saved, int64_t heads)
{
    const int64_t *d = out->view.shape;
    mt_scope_begin();
    mt_gpt2_kernels(mt_device_of(qkv))
        ->attention_bwd(dqkv, mt_f32(dout), widened(qkv), mt_f32(out), mt_f32(saved), d[0], d[1], d[2], heads);
    mt_scope_end();
}

/* ---- the tables ------------------------------------------------------------------------------------------ */

static const mt_products products = {
    .operand = operand, .matmul = matmul, .linear_fwd = linear_fwd, .linear_bwd = linear_bwd
};
static const mt_gpt2_products of_gpt2 = { .attention_fwd = attention_fwd,
                                          .attention_bwd = attention_bwd,
                                          .classifier_fwd = classifier_fwd,
                                          .classifier_bwd = classifier_bwd };

void mt_products16_offer(void)
{
    mt_products_offer(MT_F16, &products);
    mt_products_offer(MT_BF16, &products);
    mt_gpt2_products_offer(MT_F16, &of_gpt2);
    mt_gpt2_products_offer(MT_BF16, &of_gpt2);
}
