/* mnist.c -- MNIST's four files: mt_mnist_path finds them, mt_mnist_open makes a data set of each pair of images and
 * labels. idx_dataset.c maps them into memory, and unit idx_map.c of lab 05 reads their headers and pixels. */
#include "data/mnist.h"

#include "data/idx_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LABELS_AT = 8 /* offset of the first label in its file */ };

/* The file that datasets/fetch writes last shows that a folder is complete. */
const char *mt_mnist_folder(void)
{
    static char path[MT_PATH];
    mt_dataset_path(path, "mnist/t10k-labels-idx1-ubyte", "standin/t10k-labels-idx1-ubyte");
    *strrchr(path, '/') = 0;
    return path;
}

const char *mt_mnist_name(const char *dir)
{
    static char whole[MT_PATH];
    return realpath(dir, whole) ? basename(whole) : "nothing";
}

mt_status mt_mnist_path(char *out, const char *dir, const char *name, int dims)
{
    char zipped[MT_PATH + 4];
    for (int dash = 1; dash >= 0; dash--) {
        if (snprintf(out, MT_PATH, "%s/%s%cidx%d-ubyte", dir, name, dash ? '-' : '.', dims) >= MT_PATH)
            return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", dir);
        snprintf(zipped, sizeof zipped, "%s.gz", out);
        if (access(out, F_OK) == 0 || access(zipped, F_OK) == 0)
            return MT_OK;
    }
    snprintf(out, MT_PATH, "%s/%s-idx%d-ubyte", dir, name, dims); /* the name for the message */
    return MT_OK;
}

static mt_status check_labels(const mt_dataset *set, const char *path)
{
    const uint8_t *label = mt_idx_dataset_labels(set);
    for (int64_t i = 0; i < set->count; i++)
        if (label[i] >= MT_MNIST_CLASSES)
            return mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": label %d of image %" PRId64 ", expected 0 to %d",
                           path, LABELS_AT + i, label[i], i, MT_MNIST_CLASSES - 1);
    return MT_OK;
}

/* A file cannot be read: what to do about it. */
static mt_status advise(const char *path)
{
    char zipped[MT_PATH + 4];
    snprintf(zipped, sizeof zipped, "%s.gz", path);
    if (access(path, F_OK) < 0 && access(zipped, F_OK) == 0)
        return mt_fail(MT_ERR_IO, "%s: no such file, but %s exists: run gunzip on it", path, zipped);
    return mt_fail(MT_ERR_IO, "%s\nrun datasets/fetch mnist", mt_last_error());
}

static mt_status open_one(mt_dataset **out, const char *dir, const char *name, mt_pixel_norm norm)
{
    char images[MT_PATH], labels[MT_PATH];
    char image[32], label[32];
    snprintf(image, sizeof image, "%s-images", name);
    snprintf(label, sizeof label, "%s-labels", name);
    MT_TRY(mt_mnist_path(images, dir, image, 3));
    MT_TRY(mt_mnist_path(labels, dir, label, 1));
    mt_status status = mt_idx_dataset_open(out, images, labels, norm);
    if (status == MT_ERR_IO)
        status = advise(access(images, R_OK) < 0 ? images : labels);
    return status == MT_OK ? check_labels(*out, labels) : status;
}

mt_status mt_mnist_open(mt_mnist *out, const char *dir)
{
    mt_mnist mnist = { 0 };
    mt_status status = open_one(&mnist.train, dir, "train", (mt_pixel_norm){ 0, 0 });
    if (status == MT_OK)
        status = open_one(&mnist.test, dir, "t10k", mt_idx_dataset_norm(mnist.train));
    if (status == MT_OK && !mt_shape_equal(mnist.train->x.shape, mnist.test->x.shape))
        status = mt_fail(MT_ERR_FORMAT, "%s: test images of %" PRId64 " pixels, training images of %" PRId64, dir,
                         mnist.test->x.shape.dim[0], mnist.train->x.shape.dim[0]);
    if (status == MT_OK)
        *out = mnist;
    else
        mt_mnist_close(&mnist);
    return status;
}

void mt_mnist_close(mt_mnist *mnist)
{
    mt_dataset_close(mnist->train);
    mt_dataset_close(mnist->test);
    *mnist = (mt_mnist){ 0 };
}
