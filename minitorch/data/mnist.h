/* mnist.h -- MNIST, or the stand-in digits in its format, as a training set and a test set.
 *
 *   DIR/train-images-idx3-ubyte  DIR/train-labels-idx1-ubyte  DIR/t10k-images-idx3-ubyte  DIR/t10k-labels-idx1-ubyte */
#pragma once

#include "data/dataset.h"

MT_C_BEGIN

#define MT_MNIST_CLASSES 10

typedef struct mt_mnist {
    mt_dataset *train, *test; /* x [pixels] f32, normalised by the training set's mean and standard deviation; y i32 */
} mt_mnist;

/* mt_mnist_folder -- where datasets/fetch puts the files (mt_dataset_path): MNIST, or the stand-in digits when only
 * they exist. Never NULL, but the folder may not exist. Lent until the next call. */
const char *mt_mnist_folder(void);

/* mt_mnist_name -- the last part of the folder's real path, which says what was trained on: "mnist", "standin";
 * "nothing" when there is no such folder. Lent until the next call. */
const char *mt_mnist_name(const char *dir);

/* mt_mnist_path -- DIR/train-images-idx3-ubyte for "train-images" and 3, or where only that exists
 * DIR/train-images.idx3-ubyte, as unpacking often names it.   out [MT_PATH]. MT_ERR_ARGUMENT: too long. */
mt_status mt_mnist_path(char *out, const char *dir, const char *name, int dims);

/* mt_mnist_open -- both sets.   Fails (*out unchanged) as mt_idx_dataset_open does, with the command to run when a file
 * is missing; when a label is none of the classes, with its offset; when the test images have another size. */
mt_status mt_mnist_open(mt_mnist *out, const char *dir);
void mt_mnist_close(mt_mnist *mnist); /* a zeroed one is allowed */

MT_C_END
