/* by_hand.c -- a perceptron learns to read handwritten digits, without tensors: kernels in order, forward and backward.
 *
 * `make by-hand` runs it. The backward pass is written by hand (kernels/manual_mlp.h). */
#include <stdio.h>
#include <stdlib.h>

#include "mt.h"

enum { EPOCHS = 3, BATCH = 64, PIXELS = 28 * 28, HIDDEN = 256, CLASSES = 10, SEED = 1 };

/* N images, those of order[0 .. N-1], as numbers around 0, and their labels. */
static void gather(float *x, int32_t *label, const mt_digits *set, const int64_t *order, int64_t N)
{
    for (int64_t n = 0; n < N; n++) {
        for (int64_t i = 0; i < PIXELS; i++)
            x[n * PIXELS + i] = (float)set->image[order[n] * PIXELS + i] / 128 - 0.25f;
        label[n] = set->label[order[n]];
    }
}

int main(void)
{
    static float x[BATCH * PIXELS];
    static int32_t label[BATCH];
    mt_digits train, test;
    mt_flush_denormals(true);
    mt_must(mt_digits_open(&train, "train"));
    mt_must(mt_digits_open(&test, "t10k"));
    int64_t *order = mt_calloc(mt_max(train.count, test.count), sizeof *order);

    mt_manual_mlp *model = mt_manual_mlp_new((int64_t[]){ PIXELS, HIDDEN, CLASSES, 0 }, BATCH);
    mt_rng init = mt_rng_new(SEED, MT_STREAM_INIT), shuffle = mt_rng_new(SEED, MT_STREAM_SHUFFLE);
    mt_manual_mlp_init(model, &init);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        double sum = 0;
        int64_t right = 0;
        mt_rng_permutation(&shuffle, order, train.count);
        for (int64_t at = 0; at < train.count; at += BATCH) {
            int64_t N = mt_min(BATCH, train.count - at);
            gather(x, label, &train, order + at, N);
            mt_manual_mlp_forward(model, x, N);
            sum += mt_manual_mlp_backward(model, x, label, N) *
                   (double)N;               /* the gradient of the loss by each parameter, */
            mt_manual_mlp_sgd(model, 0.1f); /* a small step against it */
        }
        for (int64_t at = 0; at < test.count; at++) {
            gather(x, label, &test, &at, 1);
            const float *logit = mt_manual_mlp_forward(model, x, 1);
            int best = 0;
            for (int c = 1; c < CLASSES; c++)
                best = logit[c] > logit[best] ? c : best;
            right += best == label[0];
        }
        printf("epoch %d  loss %.4f  test accuracy %.2f %%\n", epoch, sum / (double)train.count,
               100.0 * (double)right / (double)test.count);
        fflush(stdout);
    }
    mt_manual_mlp_free(model);
    mt_digits_close(&train);
    mt_digits_close(&test);
    free(order);
}
