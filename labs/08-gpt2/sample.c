/* sample.c -- from logits to one token: the most likely, or one drawn from those that are not cut off.
 * mt_sample (models/sample.c) ranks the tokens for these kernels and draws the random number: what is left is exact. */
#include "ops/kernels_gpt2.h"

#include <math.h>

int32_t mt_most_likely_cpu(const float *logits, int64_t V)
{
    /* TODO 08.9: The token with the largest logit.
     * Hint: of equal ones the first, so that a text can be written again. */
    MT_TODO("08.9");
}

void mt_sample_weights_cpu(float *weight, const float *logit, int64_t V, double temperature)
{
    /* TODO 08.9: How likely each token is beside the most likely, which is the first.
     * Hint: softmax without its division. Take the largest away before dividing by the temperature: e^90 overflows. */
    MT_TODO("08.9");
}

int64_t mt_sample_kept_cpu(const float *weight, int64_t V, int64_t top_k, double top_p)
{
    /* TODO 08.9: How many of the most likely tokens may be drawn.
     * Hint: at most top_k, where 0 means all. Of those, as few as have at least the share top_p of their sum: the one that
     * reaches it is kept too, so there is always one. */
    MT_TODO("08.9");
}

int64_t mt_sample_drawn_cpu(const float *weight, int64_t kept, double part)
{
    /* TODO 08.9: The first token at which the weights, added up, exceed their part of the sum of those kept.
     * Hint: each token owns a stretch of 0 to the sum, as long as its weight. Which one's is part * sum in? */
    MT_TODO("08.9");
}
