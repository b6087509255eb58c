/* cost.h -- memory and arithmetic of a training step of GPT-2, before anything is allocated. Unit:
 * solutions/15-scale/cost.c (lab 15, not graded yet).
 *
 *     mt_gpt2_cost cost = mt_gpt2_cost_of(mt_gpt2_size("gpt2"), 4, 1024, 1);
 *     mt_gpt2_cost_print(&cost, mt_gpt2_size("gpt2")); */
#pragma once

#include "models/gpt2.h"

MT_C_BEGIN

typedef struct mt_gpt2_cost {
    int64_t parameters;       /* padding included */
    int64_t parameter_bytes;  /* f32; gradients need as much */
    int64_t optimizer_bytes;  /* AdamW's two moments */
    int64_t layer_bytes;      /* what one layer keeps for backward */
    int64_t activation_bytes; /* what forward keeps in all: layers, embedding, last layernorm, probabilities */
    int64_t peak_bytes;       /* the most that is allocated at once in a training step */
    int64_t flops;            /* of a training step: matmuls and attention, causal half, backward twice forward */
    int64_t attention_flops;  /* the part of it that grows with T^2: scores and weighted sums */
} mt_gpt2_cost;

/* mt_gpt2_cost_of -- a training step of B x T tokens, AdamW, with so many micro-batches of B samples each.
 * Lab 15.1-3 */
mt_gpt2_cost mt_gpt2_cost_of(const mt_gpt2_config *config, int64_t B, int64_t T, int64_t micro_batches);

/* mt_gpt2_cost_print -- the same as a table on standard output. */
void mt_gpt2_cost_print(const mt_gpt2_cost *cost, const mt_gpt2_config *config);

MT_C_END
