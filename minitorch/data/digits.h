/* digits.h -- a labelled set of small grey images (MNIST, or its stand-in), and batches of it.
 *
 * Images stay bytes in memory; a batch is gathered by index and turned into floats on the way, so that a shuffled epoch
 * moves an eighth of what shuffled floats would. */
#ifndef MT_DATA_DIGITS_H
#define MT_DATA_DIGITS_H

#include "data/idx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MT_DIGIT_CLASSES 10

/* How bytes become floats: (byte - mean) / stddev. */
typedef struct mt_pixel_norm {
    float mean, stddev; /* in units of a byte, 0 .. 255 */
} mt_pixel_norm;

typedef struct mt_digits {
    mt_idx images, labels; /* equally many, at least one; each label 0 .. MT_DIGIT_CLASSES - 1 */
    int64_t count, pixels; /* images, and pixels of one image */
    mt_pixel_norm norm;    /* what gather applies; open sets this set's own */
} mt_digits;

/* mt_digits_open -- DIR/NAME-images-idx3-ubyte and DIR/NAME-labels-idx1-ubyte; name is "train" or "t10k".
 * norm becomes mean and standard deviation over all pixels; a test set must be given the training set's instead.
 * Fails as mt_idx_read does, and when the counts differ, there is no image, or a label is out of range. */
mt_status mt_digits_open(mt_digits *out, const char *dir, const char *name);
void mt_digits_close(mt_digits *digits); /* a zeroed one is allowed */

/* mt_digits_gather -- one batch.
 *   x      [N, pixels] f32  overwritten: images order[0 .. N-1], normalised
 *   label  [N] i32          overwritten
 *   order  [N] i64          each 0 .. count-1, aborts otherwise
 * Moves: reads N pixels B, writes 4 N pixels B; threads split N. */
void mt_digits_gather(float *x, int32_t *label, const mt_digits *digits, const int64_t *order, int64_t N);

/* mt_digits_gather_ahead -- the same, and asks memory for the images next[0 .. next_N-1] of the batch after this one, which
 * come out of the cache when they are gathered: a shuffled order is a jump for every image. */
void mt_digits_gather_ahead(float *x, int32_t *label, const mt_digits *digits, const int64_t *order, int64_t N,
                            const int64_t *next, int64_t next_N);

#ifdef __cplusplus
}
#endif
#endif
