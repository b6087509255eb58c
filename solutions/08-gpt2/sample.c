/* sample.c -- from logits to one token: the most likely, or one drawn from those that are not cut off. mt_sample
 * (models/sample.c) ranks the tokens for these kernels and draws the random number, so their results are exact. */
#include "models/kernels_gpt2.h"

#include <math.h>

int32_t mt_most_likely_cpu(const float *logits, int64_t V)
{
    /* LAB 08.9 BEGIN  The token with the largest logit.
     * Hint: of equal ones the first, so that the result is reproducible. */
    int64_t best = 0;
    for (int64_t v = 1; v < V; v++)
        if (logits[v] > logits[best])
            best = v;
    return (int32_t)best;
    /* LAB 08.9 END */
}

void mt_sample_weights_cpu(float *weight, const float *logit, int64_t V, double temperature)
{
    /* LAB 08.9 BEGIN  The probability of each token relative to the most likely one, which is the first.
     * Hint: softmax without its division. Which of subtraction and division by the temperature has to come first?
     * e^90 overflows. */
    for (int64_t i = 0; i < V; i++)
        weight[i] = (float)exp(((double)logit[i] - (double)logit[0]) / temperature);
    /* LAB 08.9 END */
}

int64_t mt_sample_kept_cpu(const float *weight, int64_t V, int64_t top_k, double top_p)
{
    /* LAB 08.9 BEGIN  How many of the most likely tokens may be drawn.
     * Hint: at most top_k, where 0 means all. Of those, the fewest whose sum is at least top_p times the sum of all
     * of them. The token that reaches that share is kept too, so at least one is kept. */
    int64_t most = top_k > 0 ? mt_min(top_k, V) : V, kept = 0;
    double sum = 0, reached = 0;
    for (int64_t i = 0; i < most; i++)
        sum += weight[i];
    while (kept < most && (kept == 0 || reached < top_p * sum))
        reached += weight[kept++];
    return kept;
    /* LAB 08.9 END */
}

int64_t mt_sample_drawn_cpu(const float *weight, int64_t kept, double part)
{
    /* LAB 08.9 BEGIN  The first token at which the running sum of the weights exceeds `part` of the sum of the kept
     * ones.
     * Hint: each token has an interval between 0 and the sum, as long as its weight. Which interval contains part *
     * sum? */
    double sum = 0, reached = 0;
    for (int64_t i = 0; i < kept; i++)
        sum += weight[i];
    for (int64_t i = 0; i < kept; i++)
        if ((reached += weight[i]) > part * sum)
            return i;
    return kept - 1;
    /* LAB 08.9 END */
}
