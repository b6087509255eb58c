/* classifier.c -- the head of a language model and its loss as one kernel: logits, softmax and cross-entropy.
 *
 * The N x V logits are the largest array of the whole model. One array holds the logits, then the probabilities, and in
 * backward the gradient of the logits. The weights are the token table, V rows of C. */
#include "kernels/kernels.h"
#include "models/kernels_gpt2.h"

#include <inttypes.h>

enum { THREADS_FROM = 1 << 15 }; /* elements from which threads pay off */

void mt_classifier_fwd_cpu(float *loss, float *probs, const float *x, const float *w, const int32_t *target, int64_t N,
                           int64_t C, int64_t V)
{
    /* TODO 08.7: Logits x w^T, then the loss, and the probabilities in the array of the logits.
     * Hint: w is stored [V,C], so it is read transposed. Lab 02's cross-entropy may overwrite its logits. */
    MT_TODO("08.7"); /* delete this line when yours stands here */
}

void mt_classifier_bwd_cpu(float *dx, float *dw, float *probs, const float *dloss, const float *x, const float *w,
                           const int32_t *target, int64_t N, int64_t C, int64_t V)
{
    /* TODO 08.7: The gradient of the logits in the array of the probabilities, then dx and dw.
     * Hint: that of the logits is lab 02's; the two products follow from the shapes. dx and dw are added to, and
     * either may be NULL. */
    MT_TODO("08.7"); /* delete this line when yours stands here */
}
