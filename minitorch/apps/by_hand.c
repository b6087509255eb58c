/* by_hand.c -- a perceptron learns to read handwritten digits, without tensors: kernels in order, forward and backward.
 *
 * `make by-hand` runs it. The backward pass is written by hand (kernels/manual_mlp.h). */
#include <stdio.h>
#include <stdlib.h>

#include "mt.h"

enum { EPOCHS = 3, BATCH = 64, PIXELS = 28 * 28, HIDDEN = 256, CLASSES = 10, SEED = 1 };

/* Two files in the format IDX: a header, then a byte for each pixel; a header, then a byte for each label. */
typedef struct digits {
    mt_file_map images, labels;
    int64_t count;
} digits;

static void open_digits(digits *set, const char *images, const char *images_standin, const char *labels,
                        const char *labels_standin)
{
    mt_must(mt_data_map(&set->images, images, images_standin));
    mt_must(mt_data_map(&set->labels, labels, labels_standin));
    set->count = set->labels.size - 8;
    MT_CHECK(set->count > 0 && set->images.size == 16 + set->count * PIXELS, "%s and %s do not belong together",
             set->images.path, set->labels.path);
}

/* N images, those of order[0 .. N-1], as numbers around 0, and their labels. */
static void gather(float *x, int32_t *label, const digits *set, const int64_t *order, int64_t N)
{
    for (int64_t n = 0; n < N; n++) {
        for (int64_t i = 0; i < PIXELS; i++)
            x[n * PIXELS + i] = (float)set->images.bytes[16 + order[n] * PIXELS + i] / 128 - 0.25f;
        label[n] = set->labels.bytes[8 + order[n]];
        MT_CHECK(label[n] < CLASSES, "%s: label %d", set->labels.path, label[n]);
    }
}

int main(void)
{
    static float x[BATCH * PIXELS];
    static int32_t label[BATCH];
    digits train, test;
    open_digits(&train, "mnist/train-images-idx3-ubyte", "standin/train-images-idx3-ubyte",
                "mnist/train-labels-idx1-ubyte", "standin/train-labels-idx1-ubyte");
    open_digits(&test, "mnist/t10k-images-idx3-ubyte", "standin/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte",
                "standin/t10k-labels-idx1-ubyte");
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
    mt_file_map_close(&train.images), mt_file_map_close(&train.labels);
    mt_file_map_close(&test.images), mt_file_map_close(&test.labels);
    free(order);
}
