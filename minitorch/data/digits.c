/* digits.c -- opening a labelled set and gathering batches of it. */
#include "data/digits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define LABELS_AT  8  /* offset of the first label in its file, for messages */
#define CACHE_LINE 64 /* bytes */

/* Shuffled images lie anywhere in memory, and the processor cannot guess where: asking for the one after the next while
 * this one is turned into floats halves the time of a batch. */
#define AHEAD 2

static mt_status check_pair(const mt_digits *digits, const char *image_path, const char *label_path)
{
    const mt_idx *images = &digits->images, *labels = &digits->labels;
    if (images->count != labels->count)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 4: %" PRId64 " labels, but %s holds %" PRId64 " images", label_path,
                       labels->count, image_path, images->count);
    if (images->count == 0)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 4: the set is empty", image_path);
    for (int64_t i = 0; i < labels->count; i++)
        if (labels->data[i] >= MT_DIGIT_CLASSES)
            return mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": label %d of image %" PRId64 ", expected 0 to %d",
                           label_path, LABELS_AT + i, labels->data[i], i, MT_DIGIT_CLASSES - 1);
    return MT_OK;
}

/* Sums of whole numbers, exact in any order: the thread count cannot change the result. */
static mt_pixel_norm norm_of(const uint8_t *data, int64_t n)
{
    int64_t sum = 0, squares = 0;
#pragma omp parallel for reduction(+ : sum, squares)
    for (int64_t i = 0; i < n; i++) {
        sum += data[i];
        squares += data[i] * data[i];
    }
    double mean = (double)sum / (double)n, variance = (double)squares / (double)n - mean * mean;
    return (mt_pixel_norm){ (float)mean, variance > 0 ? (float)sqrt(variance) : 1 };
}

mt_status mt_digits_open(mt_digits *out, const char *dir, const char *name)
{
    char image_path[4096], label_path[4096];
    mt_digits digits = { 0 };
    if (snprintf(image_path, sizeof image_path, "%s/%s-images-idx3-ubyte", dir, name) >= (int)sizeof image_path ||
        snprintf(label_path, sizeof label_path, "%s/%s-labels-idx1-ubyte", dir, name) >= (int)sizeof label_path)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", dir);
    mt_status status = mt_idx_read(&digits.images, image_path, MT_IDX_IMAGES);
    if (status == MT_OK)
        status = mt_idx_read(&digits.labels, label_path, MT_IDX_LABELS);
    if (status == MT_OK)
        status = check_pair(&digits, image_path, label_path);
    if (status != MT_OK) {
        mt_digits_close(&digits);
        return status;
    }
    digits.count = digits.images.count;
    digits.pixels = digits.images.rows * digits.images.cols;
    digits.norm = norm_of(digits.images.data, digits.count * digits.pixels);
    *out = digits;
    return MT_OK;
}

void mt_digits_close(mt_digits *digits)
{
    mt_idx_free(&digits->images);
    mt_idx_free(&digits->labels);
    *digits = (mt_digits){ 0 };
}

/* Ask memory for an image, so that it is in the cache when its turn comes. */
static void ask_for(const mt_digits *digits, int64_t index)
{
    const uint8_t *image = digits->images.data + mt_max(0, mt_min(index, digits->count - 1)) * digits->pixels;
    for (int64_t p = 0; p < digits->pixels; p += CACHE_LINE)
        __builtin_prefetch(image + p);
}

void mt_digits_gather_ahead(float *x, int32_t *label, const mt_digits *digits, const int64_t *order, int64_t N,
                            const int64_t *next, int64_t next_N)
{
    int64_t pixels = digits->pixels;
    float scale = 1 / digits->norm.stddev, shift = -digits->norm.mean / digits->norm.stddev;
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < N; n++) {
        MT_CHECK(order[n] >= 0 && order[n] < digits->count, "image %" PRId64 " of %" PRId64, order[n], digits->count);
        const uint8_t *image = digits->images.data + order[n] * pixels;
        float *row = x + n * pixels;
        if (n < next_N)
            ask_for(digits, next[n]);
        for (int64_t p = 0; p < pixels; p++)
            row[p] = (float)image[p] * scale + shift;
        label[n] = digits->labels.data[order[n]];
    }
}

void mt_digits_gather(float *x, int32_t *label, const mt_digits *digits, const int64_t *order, int64_t N)
{
    int64_t ahead = mt_min(AHEAD, N);
    mt_digits_gather_ahead(x, label, digits, order, N, order + ahead, N - ahead);
}
