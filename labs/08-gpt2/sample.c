/* sample.c -- from logits to one token: the most likely, or one drawn from those that are not cut off. mt_sample
 * (models/sample.c) ranks the tokens for these kernels and draws the random number, so their results are exact. */
#include "models/kernels_gpt2.h"

#include <math.h>

int32_t mt_most_likely_cpu(const float *logits, int64_t V)
{
    /* TODO 08.9: The token with the largest logit.
     * Hint: of equal ones the first, so that the result is reproducible. */
    MT_TODO("08.9"); /* delete this line when yours stands here */
}

void mt_sample_weights_cpu(float *weight, const float *logit, int64_t V, double temperature)
{
    /* TODO 08.9: The probability of each token relative to the most likely one, which is the first.
     * Hint: softmax without its division. Which of subtraction and division by the temperature has to come first?
     * e^90 overflows. */
    MT_TODO("08.9"); /* delete this line when yours stands here */
}

int64_t mt_sample_kept_cpu(const float *weight, int64_t V, int64_t top_k, double top_p)
{
    /* TODO 08.9: How many of the most likely tokens may be drawn.
     * Hint: at most top_k, where 0 means all. Of those, the fewest whose sum is at least top_p times the sum of all
     * of them. The token that reaches that share is kept too, so at least one is kept. */
    MT_TODO("08.9"); /* delete this line when yours stands here */
}

int64_t mt_sample_drawn_cpu(const float *weight, int64_t kept, double part)
{
    /* TODO 08.9: The first token at which the running sum of the weights exceeds `part` of the sum of the kept
     * ones.
     * Hint: each token has an interval between 0 and the sum, as long as its weight. Which interval contains part *
     * sum? */
    MT_TODO("08.9"); /* delete this line when yours stands here */
}
