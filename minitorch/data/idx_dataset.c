/* idx_dataset.c -- two mapped IDX files as one data set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "data/idx_map.h"

enum { CACHE_LINE = 64 /* bytes */ };

typedef struct idx_dataset {
    mt_dataset base;
    mt_file_map images, labels;
    const uint8_t *pixel, *label; /* the data behind the headers */
    int64_t pixels;               /* of one image */
    mt_pixel_norm norm;
} idx_dataset;

static mt_status idx_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const idx_dataset *set = (const idx_dataset *)base;
    int32_t label = set->label[index];
    (void)rng;
    mt_pixels_to_floats(x, set->pixel + index * set->pixels, set->pixels, set->norm);
    memcpy(y, &label, sizeof label);
    return MT_OK;
}

/* Shuffled images are at addresses that the processor cannot predict: prefetching a whole batch, so that many cache
 * misses overlap, halves the time of a batch. */
static void idx_soon(const mt_dataset *base, const int64_t *index, int64_t count)
{
    const idx_dataset *set = (const idx_dataset *)base;
    for (int64_t n = 0; n < count; n++)
        for (int64_t at = 0; at < set->pixels; at += CACHE_LINE)
            __builtin_prefetch(set->pixel + index[n] * set->pixels + at);
}

static void idx_close(mt_dataset *base)
{
    idx_dataset *set = (idx_dataset *)base;
    mt_file_map_close(&set->images);
    mt_file_map_close(&set->labels);
    free(set);
}

/* Integer sums, which are exact. */
static mt_pixel_norm norm_of(const uint8_t *pixel, int64_t n)
{
    int64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += pixel[i];
        squares += pixel[i] * pixel[i];
    }
    double mean = (double)sum / (double)n, variance = (double)squares / (double)n - mean * mean;
    return (mt_pixel_norm){ (float)mean, variance > 0 ? (float)sqrt(variance) : 1 };
}

static mt_status open_file(mt_idx_header *header, mt_file_map *file, const char *path, mt_idx_kind kind)
{
    MT_TRY(mt_file_map_open(file, path));
    MT_TRY(mt_file_no_page(file));
    return mt_idx_header_read(header, path, file->bytes, file->size, kind);
}

static mt_status open_files(idx_dataset *set, const char *images, const char *labels)
{
    mt_idx_header image, label;
    MT_TRY(open_file(&image, &set->images, images, MT_IDX_IMAGES));
    MT_TRY(open_file(&label, &set->labels, labels, MT_IDX_LABELS));
    if (image.count != label.count)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 4: %" PRId64 " labels, but %s holds %" PRId64 " images", labels,
                       label.count, images, image.count);
    if (image.count == 0)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 4: the set is empty", images);
    set->pixel = set->images.bytes + image.data;
    set->label = set->labels.bytes + label.data;
    set->pixels = image.rows * image.cols;
    if (set->norm.stddev == 0)
        set->norm = norm_of(set->pixel, image.count * set->pixels);
    set->base = (mt_dataset){ .count = image.count,
                              .x = { MT_F32, MT_SHAPE(set->pixels) },
                              .y = { MT_I32, MT_SCALAR },
                              .get = idx_get,
                              .soon = idx_soon,
                              .close = idx_close };
    return MT_OK;
}

mt_status mt_idx_dataset_open(mt_dataset **out, const char *images, const char *labels, mt_pixel_norm norm)
{
    MT_CHECK(norm.stddev >= 0, "pixels cannot be divided by a deviation of %g", norm.stddev);
    idx_dataset *set = mt_calloc(1, sizeof *set);
    set->norm = norm;
    mt_status status = open_files(set, images, labels);
    if (status == MT_OK)
        *out = &set->base;
    else
        idx_close(&set->base);
    return status;
}

static const idx_dataset *checked(const mt_dataset *base)
{
    MT_CHECK(base->get == idx_get, "not a set of mt_idx_dataset_open");
    return (const idx_dataset *)base;
}

mt_pixel_norm mt_idx_dataset_norm(const mt_dataset *base)
{
    return checked(base)->norm;
}

const uint8_t *mt_idx_dataset_labels(const mt_dataset *base)
{
    return checked(base)->label;
}
