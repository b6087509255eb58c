/* pictures.h -- a folder of pictures with a folder for each class, in the place of MNIST's files.
 *
 *     photos/cat/1.jpg   photos/dog/1.png                      a sixth of each class becomes the test set
 *     photos/train/cat/1.jpg   photos/test/cat/2.jpg           or the folder says which
 *
 * Each picture is read once, at the start, so that one that cannot be read ends the run before it begins: its shorter
 * side becomes MT_PICTURE_SIDE, the middle is kept, and its numbers stay in memory. */
#pragma once

#include "data/mnist.h"

MT_C_BEGIN

enum { MT_PICTURE_SIDE = 32 };

/* mt_pictures_open -- both sets, x [3 * MT_PICTURE_SIDE^2] f32, y i32 the class; or, where the folder has MNIST's
 * files or no folders in it, mt_mnist_open. Says on stdout how many there are, and the classes.
 *   sum [9]  hex digits that change with the images
 * Fails, *out unchanged, as mt_image_folder_open and mt_image_read do, in words: not 2 to MT_CLASSES classes; test
 * pictures of other classes; too few for a test set; more than fit into memory. */
mt_status mt_pictures_open(mt_mnist *out, char sum[9], const char *dir, bool quiet);

MT_C_END
