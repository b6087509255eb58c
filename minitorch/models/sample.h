/* sample.h -- from logits to a token, and from a prompt to text. */
#pragma once

#include "core/rng.h"
#include "nn/module.h"

MT_C_BEGIN

typedef struct mt_sampling {
    double temperature; /* logits are divided by it; 0: always the most likely token */
    int64_t top_k;      /* only the k most likely; 0: all */
    double top_p;       /* only the most likely whose probabilities reach p together; 1: all */
} mt_sampling;

/* mt_sample -- one token.
 *   logits [V];  rng: one number is drawn, none when temperature is 0
 * Equally likely tokens rank by id. Aborts: V < 1, temperature or top_k < 0, top_p not in (0, 1].
 * Source: Holtzman et al. 2020, arXiv:1904.09751 (top-p); Fan et al. 2018, arXiv:1805.04833 (top-k) */
int32_t mt_sample(const float *logits, int64_t V, const mt_sampling *how, mt_rng *rng);

/* mt_gpt2_extend -- `more` tokens after ids[0 .. count-1], count >= 1; ids has room for them. Only the model's context
 * is used. Recomputes every context, on any device: work T^2, where mt_decoder_next's cache has T. */
void mt_gpt2_extend(int32_t *ids, int64_t count, int64_t more, mt_module *model, const mt_sampling *how, mt_rng *rng);

MT_C_END
