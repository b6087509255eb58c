/* digits.c -- the checker's own reader of labelled IDX files. */
#include "checks/oracle_mlp.h"
#include "core/io.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t word(const uint8_t *bytes, int i)
{
    const uint8_t *p = bytes + 4 * i;
    return (int64_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

/* A file of `dims` dimensions, 1 or 3, with the number of its items and their size; NULL when it is missing or
 * wrong. */
static uint8_t *read_idx(int64_t *count, int64_t *item, const char *path, int dims)
{
    int64_t size, header = 4 + 4 * dims;
    uint8_t *bytes;
    if (mt_file_read(&bytes, &size, path) != MT_OK)
        return NULL;
    if (size > header && word(bytes, 0) == 0x800 + dims) {
        *count = word(bytes, 1);
        *item =
            dims == 3 ? mt_min(word(bytes, 2), 1 << 20) * mt_min(word(bytes, 3), 1 << 20) : 1; /* a product that fits */
        if (*item > 0 && (size - header) % *item == 0 && (size - header) / *item == *count)
            return bytes;
    }
    free(bytes);
    return NULL;
}

bool mg_digits_open(mg_digits *out, const char *dir, const char *name)
{
    mg_digits d = { 0 };
    int64_t labels = 0, one, bad = 0;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", dir, name);
    d.images = read_idx(&d.count, &d.pixels, path, 3);
    snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", dir, name);
    d.labels = read_idx(&labels, &one, path, 1);
    bool good = d.images && d.labels && labels == d.count;
    if (good) {
        d.image = d.images + 16;
        d.label = d.labels + 8;
        for (int64_t i = 0; i < d.count; i++)
            bad += d.label[i] >= MG_DIGIT_CLASSES;
    }
    if (good && bad == 0)
        *out = d;
    else
        mg_digits_close(&d);
    return good && bad == 0;
}

void mg_digits_close(mg_digits *digits)
{
    free(digits->images);
    free(digits->labels);
    *digits = (mg_digits){ 0 };
}
