/* gpt2.h -- GPT-2 of any size: tokens and positions, blocks of attention and MLP, a residual stream, and the token
 * table as head.
 *
 *     mt_gpt2_config config = *mt_gpt2_size("gpt2");                    // 124M; or numbers of your own
 *     mt_module *model = mt_gpt2_new(&config, &rng);
 *     mt_tensor *loss = mt_gpt2_loss(model, ids, targets);              // i32 [B,T] both
 *
 * Parameters have Hugging Face's names ("h.0.attn.c_attn.weight") and its shapes: its Conv1D weights are [inputs,
 * outputs], as ours are. There is no dropout, as in nanoGPT's pretraining.
 * Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".   Lab 08 */
#pragma once

#include "nn/module.h"

MT_C_BEGIN

typedef struct mt_gpt2_config {
    int64_t vocabulary; /* tokens */
    int64_t rows;       /* of the token table: vocabulary, padded with rows that are never read; 0: a multiple of 64 */
    int64_t block;      /* the longest context */
    int64_t layers, heads;
    int64_t width; /* of the residual stream; heads divides it */
} mt_gpt2_config;

/* mt_gpt2_size -- "gpt2" (124M), "gpt2-medium" (355M), "gpt2-large" (774M), "gpt2-xl" (1558M) or "toy" (4 layers, 4
 * heads, 128 wide, context 64). NULL, with mt_last_error listing the names: none of these. */
const mt_gpt2_config *mt_gpt2_size(const char *name);

/* mt_gpt2_fill -- layers, heads, width and block that are 0 become those of a named size. MT_ERR_ARGUMENT as above. */
mt_status mt_gpt2_fill(mt_gpt2_config *config, const char *size);

/* mt_gpt2_check -- MT_ERR_ARGUMENT, with the reason, when there can be no such model. */
mt_status mt_gpt2_check(const mt_gpt2_config *config);

/* mt_gpt2_state -- append the sizes as integers, to save them or to load them before a model exists. */
void mt_gpt2_state(mt_state *state, mt_gpt2_config *config);

/* mt_gpt2_new -- weights ~ normal(0, 0.02); those of the 2L layers that add to the residual stream (L = layers) are
 * divided by sqrt(2L), because the variances of what they add sum up; biases 0, gains 1. Aborts: mt_gpt2_check
 * fails. */
mt_module *mt_gpt2_new(const mt_gpt2_config *config, mt_rng *rng);
const mt_gpt2_config *mt_gpt2_config_of(const mt_module *model); /* lent; its rows are filled in */

/* ---- forward: solutions/08-gpt2/model.c, logits.c ------------------------------------------------------- */

/* Children, in the order in which mt_gpt2_new adds them. */
enum { MT_GPT2_WTE, MT_GPT2_WPE, MT_GPT2_H, MT_GPT2_LN_F };     /* of the model; of h: the blocks */
enum { MT_GPT2_LN_1, MT_GPT2_ATTN, MT_GPT2_LN_2, MT_GPT2_MLP }; /* of a block */
enum { MT_GPT2_C_ATTN, MT_GPT2_C_FC = 0, MT_GPT2_C_PROJ }; /* of its attn: c_attn, c_proj; of its mlp: c_fc, c_proj */

/* x and the result are [B,T,C].   Lab 08.10
 * mt_gpt2_attention_forward -- c_proj(attention(c_attn(x))); attn->size is the number of heads
 * mt_gpt2_mlp_forward       -- c_proj(gelu_tanh(c_fc(x)))
 * mt_gpt2_block_forward     -- y = x + attn(ln_1(x)), then y + mlp(ln_2(y)) */
mt_tensor *mt_gpt2_attention_forward(mt_module *attn, mt_tensor *x);
mt_tensor *mt_gpt2_mlp_forward(mt_module *mlp, mt_tensor *x);
mt_tensor *mt_gpt2_block_forward(mt_module *block, mt_tensor *x);

/* ids, targets i32 [B,T], T <= block.   Lab 08.11
 * mt_gpt2_forward -- what the head reads, [B,T,C]: token plus position, the blocks, the last layernorm
 * mt_gpt2_logits  -- [B,T,vocabulary]: that times the token table transposed
 * mt_gpt2_loss    -- [], the mean cross-entropy of the logits
 * From each of them mt_backward reaches every parameter. mt_forward(model, ids) calls mt_gpt2_forward. */
mt_tensor *mt_gpt2_forward(mt_module *model, mt_tensor *ids);
mt_tensor *mt_gpt2_logits(mt_module *model, mt_tensor *ids);
mt_tensor *mt_gpt2_loss(mt_module *model, mt_tensor *ids, mt_tensor *targets);

MT_C_END
