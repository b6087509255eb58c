/* test_mnist.c -- the four files are found and opened, and refused with a message if they do not belong together. */
#include "temp_dir.h"

#include "testing/idx_write.h"
#include "data/mnist.h"

TestSuite(mnist, .init = temp_dir_make, .fini = temp_dir_remove);

/* Images of 2 x `cols`, pixel p of image i is 10 i + p, label i mod 10. */
static void write_set(const char *name, int64_t count, int64_t cols)
{
    char images_path[64], labels_path[64];
    mt_idx images = mt_idx_new(MT_IDX_IMAGES, count, 2, cols), labels = mt_idx_new(MT_IDX_LABELS, count, 1, 1);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t p = 0; p < 2 * cols; p++)
            images.data[i * 2 * cols + p] = (uint8_t)(10 * i + p);
        labels.data[i] = (uint8_t)(i % 10);
    }
    snprintf(images_path, sizeof images_path, "%s-images-idx3-ubyte", name);
    snprintf(labels_path, sizeof labels_path, "%s-labels-idx1-ubyte", name);
    cr_assert_eq(mt_idx_write(in_dir(images_path), &images), MT_OK);
    cr_assert_eq(mt_idx_write(in_dir(labels_path), &labels), MT_OK);
    mt_idx_free(&images);
    mt_idx_free(&labels);
}

static float first_pixel(const mt_dataset *set, int64_t index)
{
    float x[64];
    int32_t y;
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    cr_assert_eq(mt_dataset_get(set, index, &rng, x, &y), MT_OK);
    cr_assert_eq(y, index % 10);
    return x[0];
}

static void refused(mt_status why, const char *words)
{
    mt_mnist mnist = { (mt_dataset *)1, (mt_dataset *)2 };
    cr_assert_eq(mt_mnist_open(&mnist, temp_dir), why, "%s", mt_last_error());
    SAYS(words);
    cr_assert(mnist.train == (mt_dataset *)1 && mnist.test == (mt_dataset *)2, "outputs were changed");
}

Test(mnist, both_sets_are_normalised_by_the_training_set)
{
    mt_mnist mnist;
    write_set("train", 10, 2); /* pixels 10 i + 0..3: mean 46.5, variance 100 * 8.25 + 1.25 */
    write_set("t10k", 3, 2);
    cr_assert_eq(mt_mnist_open(&mnist, temp_dir), MT_OK, "%s", mt_last_error());
    cr_assert(mnist.train->count == 10 && mnist.test->count == 3);
    cr_assert_float_eq(first_pixel(mnist.train, 9), (90 - 46.5) / 28.7445647, 4 * 1.2e-7 * (90 + 46.5) / 28.7);
    cr_assert_eq(first_pixel(mnist.train, 2), first_pixel(mnist.test, 2));
    mt_mnist_close(&mnist);
    cr_assert_null(mnist.train);
    mt_mnist_close(&mnist);
}

Test(mnist, what_does_not_belong_together_is_refused)
{
    write_set("train", 10, 2);
    refused(MT_ERR_IO, "t10k-images-idx3-ubyte: No such file or directory\nrun datasets/fetch mnist");
    write_set("t10k", 3, 4);
    refused(MT_ERR_FORMAT, "test images of 8 pixels, training images of 4");
    write_set("t10k", 3, 2);
    poke(in_dir("t10k-labels-idx1-ubyte"), 8 + 2, 10);
    refused(MT_ERR_FORMAT, "t10k-labels-idx1-ubyte: offset 10: label 10 of image 2, expected 0 to 9");
    cr_assert(rename(in_dir("train-labels-idx1-ubyte"), in_dir("train-labels-idx1-ubyte.gz")) == 0);
    refused(MT_ERR_IO, "train-labels-idx1-ubyte.gz exists: run gunzip on it");
    char long_path[5000];
    memset(long_path, 'a', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = 0;
    mt_mnist mnist;
    cr_assert_eq(mt_mnist_open(&mnist, long_path), MT_ERR_ARGUMENT);
}

Test(mnist, the_folder_is_mnists_unless_only_the_standin_is_complete)
{
    setenv("MT_DATA", temp_dir, 1);
    cr_assert_str_eq(mt_mnist_folder(), in_dir("mnist"));
    cr_assert_str_eq(mt_mnist_name(mt_mnist_folder()), "nothing");
    cr_assert(mkdir(in_dir("standin"), 0777) == 0 && mkdir(in_dir("mnist"), 0777) == 0);
    write_set("standin/t10k", 3, 2);
    cr_assert_str_eq(mt_mnist_folder(), in_dir("standin"));
    cr_assert_str_eq(mt_mnist_name(mt_mnist_folder()), "standin");
    write_set("mnist/t10k", 3, 2);
    cr_assert_str_eq(mt_mnist_folder(), in_dir("mnist"));
}
