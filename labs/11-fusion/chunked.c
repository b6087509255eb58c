/* chunked.c -- the head of a language model with its loss and its gradients, a chunk of rows at a time. Lab 11.
 *
 * Lab 08 keeps N x V probabilities from forward to backward, the largest array of the model. The gradient of the logits
 * is (probability - 1 at the target) times one factor, which comes later. So forward makes both gradients without it,
 * and one array of `rows` x V holds each chunk's logits, probabilities and gradients of the logits. dw sums over chunks
 * in their order: the same bits for any number of threads. Source: Hsu et al. 2024, arXiv:2410.10989, sec. 3.2. */
#include "kernels/kernels.h"
#include "fused/kernels_fused.h"

#include <inttypes.h>
#include <string.h>

enum { THREADS_FROM = 1 << 15 }; /* elements from which threads pay off */

/* n rows of probabilities become the gradient of share * loss[0] + ... + share * loss[n-1] for their logits. */
static void to_gradient(float *logits, const int32_t *target, int64_t n, int64_t V, float share)
{
    /* TODO 11.4: (p - 1 at the target, p elsewhere) * share, in the array of the probabilities. */
    MT_TODO("11.4"); /* delete this line when yours stands here */
}

void mt_classifier_chunked_fwd_cpu(float *loss, float *dx, float *dw, float *logits, const float *x, const float *w,
                                   const int32_t *target, int64_t N, int64_t C, int64_t V, int64_t rows, float share)
{
    MT_CHECK(rows >= 1, "classifier_chunked: chunks of %" PRId64 " rows; at least one", rows);
    /* TODO 11.4: All chunks: logits, loss, and what the chunk gives to both gradients.
     * Hint: lab 08.7 for rows begin .. begin+n-1, forward and then backward, with the next chunk's logits in the same
     * array; the last chunk may have fewer rows. A row of dx belongs to one chunk. dw is a sum over all chunks: the
     * first overwrites what dw holds, and without rows it is 0. Without dx and dw only the loss is wanted. */
    MT_TODO("11.4"); /* delete this line when yours stands here */
}
