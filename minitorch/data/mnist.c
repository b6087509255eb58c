/* mnist.c -- finding, opening and checking the four files. */
#include "data/mnist.h"

#include "data/idx_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096, LABELS_AT = 8 /* offset of the first label in its file */ };

typedef struct paths {
    char images[PATH], labels[PATH];
} paths;

/* Of each folder the file that datasets/fetch writes last tells whether it is complete. */
const char *mt_mnist_folder(void)
{
    static char mnist[PATH], standin[PATH];
    static const char last_file[] = "t10k-labels-idx1-ubyte";
    char mnist_last[PATH + 64], standin_last[PATH + 64];
    const char *root = getenv("MT_DATA");
    if (!root || !*root)
        root = "datasets/cache";
    snprintf(mnist, sizeof mnist, "%s/mnist", root);
    snprintf(standin, sizeof standin, "%s/standin", root);
    snprintf(mnist_last, sizeof mnist_last, "%s/%s", mnist, last_file);
    snprintf(standin_last, sizeof standin_last, "%s/%s", standin, last_file);
    return access(mnist_last, F_OK) < 0 && access(standin_last, F_OK) == 0 ? standin : mnist;
}

const char *mt_mnist_name(const char *dir)
{
    static char whole[PATH];
    return realpath(dir, whole) ? basename(whole) : "nothing";
}

static mt_status name_files(paths *p, const char *dir, const char *name)
{
    if (snprintf(p->images, PATH, "%s/%s-images-idx3-ubyte", dir, name) >= PATH ||
        snprintf(p->labels, PATH, "%s/%s-labels-idx1-ubyte", dir, name) >= PATH)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", dir);
    return MT_OK;
}

/* Reads them through the data set's own file a second time: they are small. */
static mt_status check_labels(const char *path)
{
    mt_idx labels;
    mt_status status = mt_idx_read(&labels, path, MT_IDX_LABELS);
    if (status != MT_OK)
        return status;
    for (int64_t i = 0; i < labels.count && status == MT_OK; i++)
        if (labels.data[i] >= MT_MNIST_CLASSES)
            status = mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": label %d of image %" PRId64 ", expected 0 to %d",
                             path, LABELS_AT + i, labels.data[i], i, MT_MNIST_CLASSES - 1);
    mt_idx_free(&labels);
    return status;
}

/* Says more than "no such file" when there is more to say. */
static mt_status explain(mt_status status, const paths *p)
{
    char zipped[PATH + 8];
    if (status != MT_ERR_IO)
        return status;
    for (const char *path = p->images; path; path = path == p->images ? p->labels : NULL) {
        snprintf(zipped, sizeof zipped, "%s.gz", path);
        if (access(path, F_OK) < 0 && access(zipped, F_OK) == 0)
            return mt_fail(status, "%s: not there, but %s is: run gunzip on it", path, zipped);
    }
    return mt_fail(status, "%s\nrun datasets/fetch mnist, or name the folder of the files: --data DIR",
                   mt_last_error());
}

static mt_status open_one(mt_dataset **out, const char *dir, const char *name, mt_pixel_norm norm)
{
    paths p;
    mt_status status = name_files(&p, dir, name);
    if (status != MT_OK)
        return status;
    status = mt_idx_dataset_open(out, p.images, p.labels, norm);
    if (status != MT_OK)
        return explain(status, &p);
    status = check_labels(p.labels);
    if (status != MT_OK)
        mt_dataset_close(*out);
    return status;
}

mt_status mt_mnist_open(mt_mnist *out, const char *dir)
{
    mt_dataset *bytes; /* the training set before anyone knows its mean */
    mt_mnist mnist = { 0 };
    mt_status status = open_one(&bytes, dir, "train", (mt_pixel_norm){ 0, 1 });
    if (status != MT_OK)
        return status;
    mt_pixel_norm norm = mt_idx_dataset_norm(bytes);
    mt_dataset_close(bytes);
    status = open_one(&mnist.train, dir, "train", norm);
    if (status != MT_OK)
        return status;
    status = open_one(&mnist.test, dir, "t10k", norm);
    if (status != MT_OK) {
        mt_dataset_close(mnist.train);
        return status;
    }
    int64_t train = mt_shape_numel(mnist.train->x.shape), test = mt_shape_numel(mnist.test->x.shape);
    if (test != train) {
        mt_mnist_close(&mnist);
        return mt_fail(MT_ERR_FORMAT, "%s: test images of %" PRId64 " pixels, training images of %" PRId64, dir, test,
                       train);
    }
    *out = mnist;
    return MT_OK;
}

void mt_mnist_close(mt_mnist *mnist)
{
    mt_dataset_close(mnist->train);
    mt_dataset_close(mnist->test);
    *mnist = (mt_mnist){ 0 };
}
