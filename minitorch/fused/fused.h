/* fused.h -- GPT-2 with kernels that do the work of several in one pass over memory, and with the fastest attention.
 *
 *     mt_fused_use();        // at the start of a program; models, losses and training loops stay as they are
 *
 * Results differ from the plain ones by roundings only. */
#pragma once

#include "core/tensor.h"
#include "models/kernels_gpt2.h"

MT_C_BEGIN

/* mt_fused_use -- from now on, GPT-2's table of each device (models/kernels_gpt2.h) has, on the CPU, the packed
 * attention, that of bf16, and the classifier in chunks; on each device, the fused GELU. Another call changes nothing.
 * In programs with lab 08 yours and lab 11 not, the first call changes nothing either (Makefile, PLAIN). */
void mt_fused_use(void);

/* mt_attention_name -- the rung (models/kernels_gpt2.h) that mt_attention takes for C columns in so many heads, where
 * the policy wants products in dtype: "plain", "tiled", "packed" or "bf16". */
const char *mt_attention_name(mt_device device, mt_dtype dtype, int64_t C, int64_t heads);

/* mt_bias_gelu -- GPT-2's GELU of x + bias in one pass; x [...,C], bias [C].
 * mt_linear_bias_gelu -- mt_gelu_tanh(mt_linear(x, w, b)) as a product and mt_bias_gelu, where there is a bias. */
mt_tensor *mt_bias_gelu(mt_tensor *x, mt_tensor *bias);
mt_linear_gelu_fn mt_linear_bias_gelu;

/* mt_classifier_chunked_rest -- the rest of mt_classifier, in f32 on the CPU where that takes less memory: stores the
 * gradients in place of the probabilities, and MT_CLASSIFIER_ROWS x classes logits (fused/kernels_fused.h). Otherwise
 * false, and nothing was done. */
mt_classifier_rest_fn mt_classifier_chunked_rest;

MT_C_END
