/* test_dataset.c -- IDX files as a data set: correct values through the loader; wrong files are refused with name and
 * offset. */
#include "testing/idx_write.h"
#include "data/loader.h"
#include "temp_dir.h"

#include <float.h>
#include <math.h>

TestSuite(dataset, .init = temp_dir_make, .fini = temp_dir_remove);

enum { COUNT = 37, ROWS = 5, COLS = 7, PIXELS = ROWS * COLS };

/* Pixel p of image i. */
static uint8_t pixel(int64_t i, int64_t p)
{
    return (uint8_t)(i * 31 + p * 7 + 129);
}

static void write_set(void)
{
    mt_idx images = mt_idx_new(MT_IDX_IMAGES, COUNT, ROWS, COLS), labels = mt_idx_new(MT_IDX_LABELS, COUNT, 1, 1);
    for (int64_t i = 0; i < COUNT; i++) {
        for (int64_t p = 0; p < PIXELS; p++)
            images.data[i * PIXELS + p] = pixel(i, p);
        labels.data[i] = (uint8_t)(i % 10);
    }
    cr_assert_eq(mt_idx_write(in_dir("t-images-idx3-ubyte"), &images), MT_OK);
    cr_assert_eq(mt_idx_write(in_dir("t-labels-idx1-ubyte"), &labels), MT_OK);
    mt_idx_free(&images);
    mt_idx_free(&labels);
}

static mt_status open_set(mt_dataset **out, mt_pixel_norm norm)
{
    return mt_idx_dataset_open(out, in_dir("t-images-idx3-ubyte"), in_dir("t-labels-idx1-ubyte"), norm);
}

/* b * scale + shift with both rounded, the product rounded or not, the sum rounded: at most 4 roundings. */
static void check_pixels(const float *x, int64_t image, mt_pixel_norm norm)
{
    for (int64_t p = 0; p < PIXELS; p++) {
        double b = pixel(image, p), want = (b - norm.mean) / norm.stddev;
        double tolerance = 4 * FLT_EPSILON * (b + fabs(norm.mean)) / norm.stddev;
        cr_assert_leq(fabs(x[p] - want), tolerance, "image %d, pixel %d: %g, expected %g", (int)image, (int)p, x[p],
                      want);
    }
}

Test(dataset, idx_samples_are_normalised_pixels_and_labels)
{
    mt_pixel_norm norm = { 33.3f, 78.5f };
    mt_dataset *set;
    write_set();
    cr_assert_eq(open_set(&set, norm), MT_OK, "%s", mt_last_error());
    cr_assert(set->count == COUNT && set->x.shape.rank == 1 && set->x.shape.dim[0] == PIXELS);
    for (int64_t i = 0; i < COUNT; i++) {
        float x[PIXELS];
        int32_t y = -1;
        mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
        cr_assert_eq(mt_dataset_get(set, i, &rng, x, &y), MT_OK);
        cr_assert_eq(y, i % 10);
        check_pixels(x, i, norm);
    }
    mt_dataset_close(set);
}

Test(dataset, pixels_become_floats_for_every_length)
{
    mt_pixel_norm norm = { 0, 255 };
    for (int64_t n = 0; n <= 35; n++) {
        uint8_t bytes[35];
        float out[36];
        for (int64_t p = 0; p < 35; p++)
            bytes[p] = pixel(0, p);
        out[n] = 42;
        mt_pixels_to_floats(out, bytes, n, norm);
        for (int64_t p = 0; p < n; p++)
            cr_assert_leq(fabs(out[p] - bytes[p] / 255.0), 4 * FLT_EPSILON);
        cr_assert_eq(out[n], 42, "%d pixels: one too many was written", (int)n);
    }
}

Test(dataset, a_norm_of_0_is_that_of_all_pixels)
{
    double sum = 0, squares = 0;
    mt_dataset *set;
    write_set();
    for (int64_t i = 0; i < COUNT; i++)
        for (int64_t p = 0; p < PIXELS; p++) {
            sum += pixel(i, p);
            squares += pixel(i, p) * pixel(i, p);
        }
    cr_assert_eq(open_set(&set, (mt_pixel_norm){ 0, 0 }), MT_OK);
    mt_pixel_norm norm = mt_idx_dataset_norm(set);
    double mean = sum / (COUNT * PIXELS);
    cr_assert_eq(norm.mean, (float)mean);
    cr_assert_eq(norm.stddev, (float)sqrt(squares / (COUNT * PIXELS) - mean * mean));
    float x[PIXELS];
    int32_t y;
    cr_assert_eq(mt_dataset_get(set, 7, NULL, x, &y), MT_OK);
    check_pixels(x, 7, norm);
    cr_assert_eq(mt_idx_dataset_labels(set)[7], 7);
    mt_dataset_close(set);
}

Test(dataset, idx_through_a_loader_is_the_same_bits_with_0_1_and_4_workers)
{
    mt_dataset *set;
    static float x[3][COUNT * PIXELS];
    static int32_t y[3][COUNT];
    static const int workers[] = { 0, 1, 4 };
    write_set();
    cr_assert_eq(open_set(&set, (mt_pixel_norm){ 10, 20 }), MT_OK);
    for (int run = 0; run < 3; run++) {
        mt_loader_config config = mt_loader_config_default(set);
        config.sampler = mt_sampler_shuffling(set->count, 77);
        config.batch = 8;
        config.workers = workers[run];
        mt_loader *loader = mt_loader_new(&config);
        mt_batch b;
        int64_t at = 0;
        for (; mt_loader_next(loader, &b); at += b.count) {
            memcpy(x[run] + at * PIXELS, mt_f32(b.x), (size_t)(b.count * PIXELS) * sizeof(float));
            memcpy(y[run] + at, mt_data(b.y), (size_t)b.count * sizeof(int32_t));
            for (int64_t n = 0; n < b.count; n++)
                check_pixels(mt_f32(b.x) + n * PIXELS, b.index[n], (mt_pixel_norm){ 10, 20 });
        }
        cr_assert_eq(at, COUNT);
        mt_loader_free(loader);
        cr_assert(memcmp(x[0], x[run], sizeof x[0]) == 0 && memcmp(y[0], y[run], sizeof y[0]) == 0);
    }
    mt_dataset_close(set);
}

/* refused -- opening fails with the images' or labels' name and these words, and does not change *out. */
static void refused(mt_status status, const char *file, const char *words)
{
    mt_dataset *set = NULL;
    cr_assert_eq(open_set(&set, (mt_pixel_norm){ 0, 255 }), status, "%s", mt_last_error());
    cr_assert_null(set);
    SAYS(file);
    SAYS(words);
}

Test(dataset, wrong_idx_files_are_refused)
{
    char images[256], labels[256];
    refused(MT_ERR_IO, "t-images", "No such file");
    write_set();
    strcpy(images, in_dir("t-images-idx3-ubyte"));
    strcpy(labels, in_dir("t-labels-idx1-ubyte"));
    cut(images, 1);
    refused(MT_ERR_FORMAT, "t-images", "offset 1310");
    cut(images, -2);
    refused(MT_ERR_FORMAT, "t-images", "offset 1312");
    cut(images, 1);
    poke(images, 3, 1);
    refused(MT_ERR_FORMAT, "t-images", "magic 0x00000801, expected 0x00000803");
    poke(images, 3, 3);
    poke(images, 4, 0xff); /* four billion images: the size in bytes does not overflow, but the file is too short */
    refused(MT_ERR_FORMAT, "t-images", "items");
    poke(images, 4, 0);
    poke(images, 11, 0);
    refused(MT_ERR_FORMAT, "t-images", "0 x 7");
    for (int at = 8; at < 16; at++)
        poke(images, at, 0xff); /* an image of 2^64 bytes */
    refused(MT_ERR_FORMAT, "t-images", "4294967295 x 4294967295");
    for (int at = 8; at < 16; at++)
        poke(images, at, at == 11 ? ROWS : at == 15 ? COLS : 0);
    poke(images, 0, 0x1f), poke(images, 1, 0x8b);
    refused(MT_ERR_FORMAT, "t-images", "gzip");
    poke(images, 0, 0), poke(images, 1, 0);
    cut(labels, 1);
    refused(MT_ERR_FORMAT, "t-labels", "offset 44");
    poke(labels, 7, COUNT - 1);
    refused(MT_ERR_FORMAT, "t-labels", "36 labels");
    cut(labels, 40);
    refused(MT_ERR_FORMAT, "t-labels", "header");
    cut(labels, 4);
    refused(MT_ERR_FORMAT, "t-labels", "offset 0");
    unlink(labels);
    cr_assert_eq(mkdir(labels, 0755), 0);
    refused(MT_ERR_IO, "t-labels", "a folder");
}

Test(dataset, an_empty_set_is_refused)
{
    mt_idx images = mt_idx_new(MT_IDX_IMAGES, 0, 2, 2), labels = mt_idx_new(MT_IDX_LABELS, 0, 1, 1);
    mt_idx_write(in_dir("t-images-idx3-ubyte"), &images);
    mt_idx_write(in_dir("t-labels-idx1-ubyte"), &labels);
    refused(MT_ERR_FORMAT, "t-images", "empty");
    mt_idx_free(&images);
    mt_idx_free(&labels);
}
