/* gpt2_ops.h -- the operations that GPT-2 adds to those of ops/ops.h, one file each, and the layer of one of them.
 * Conventions are those of ops/ops.h; testing/op_cases.c checks these too. */
#pragma once

#include "nn/module.h"

MT_C_BEGIN

mt_tensor *mt_layernorm(mt_tensor *x, mt_tensor *gamma, mt_tensor *beta, float eps); /* of each row; gamma, beta [C] */
mt_module *mt_layernorm_layer(int64_t columns);                                      /* gamma 1, beta 0 [C], eps 1e-5 */

mt_tensor *mt_embedding(mt_tensor *wte, mt_tensor *wpe, mt_tensor *ids); /* ids i32 [B,T]: [B,T,C], token + position */
mt_tensor *mt_residual(mt_tensor *x, mt_tensor *part);  /* x + part of one shape: mt_add without broadcasting */
mt_tensor *mt_attention(mt_tensor *qkv, int64_t heads); /* causal; [B,T,3C]: [B,T,C]. Aborts: C / heads > 128 on cuda */

mt_tensor *mt_linear_gelu(mt_tensor *x, mt_tensor *w, mt_tensor *b); /* mt_gelu_tanh(mt_linear(x, w, b)) */

/* mt_classifier -- mean cross-entropy [] of x [...,C] times the transpose of w's first `classes` rows (w [V,C], classes
 * <= V; the rest is padding), target i32, one for each row of x. Stores rows x classes numbers once, unless
 * the device's table knows a way that stores less (classifier_rest). */
mt_tensor *mt_classifier(mt_tensor *x, mt_tensor *w, mt_tensor *target, int64_t classes);

/* ---- extension point: what these ops need of a type of operands, beside ops/policy.h ---------------------------
 * Operands have the table's type and are dense; results, probabilities and gradients are f32, as in the kernels of the
 * same names (models/kernels_gpt2.h). */

typedef struct mt_gpt2_products {
    /* Operand: qkv [B,T,3C]. out [B,T,C], and what backward needs in saved, overwritten. dqkv += the gradient. */
    void (*attention_fwd)(mt_tensor *out, mt_tensor *saved, mt_tensor *qkv, int64_t heads);
    void (*attention_bwd)(float *dqkv, mt_tensor *dout, mt_tensor *qkv, mt_tensor *out, mt_tensor *saved,
                          int64_t heads);

    /* Operands: x [...,C] of N rows, w [V,C] or with more rows. loss [N] and probs [N,V], overwritten; dx, dw += the
     * gradients of the sum of dloss[n] * loss[n]; they may be NULL, and probs is overwritten. */
    void (*classifier_fwd)(mt_tensor *loss, mt_tensor *probs, mt_tensor *x, mt_tensor *w, mt_tensor *target);
    void (*classifier_bwd)(float *dx, float *dw, mt_tensor *probs, const float *dloss, mt_tensor *x, mt_tensor *w,
                           mt_tensor *target);
} mt_gpt2_products;

/* mt_gpt2_products_of, mt_gpt2_products_offer -- as mt_products_of and mt_products_offer (ops/policy.h). */
const mt_gpt2_products *mt_gpt2_products_of(mt_dtype dtype);
void mt_gpt2_products_offer(mt_dtype dtype, const mt_gpt2_products *products);

MT_C_END
