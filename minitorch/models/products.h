/* products.h -- what the ops of GPT-2 need of a type of operands, beside ops/policy.h: attention, and the classifier.
 * Operands have the table's type and are dense; results, probabilities and gradients are f32, as in the kernels of the
 * same names (ops/kernels_gpt2.h). */
#pragma once

#include "core/tensor.h"

MT_C_BEGIN

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
