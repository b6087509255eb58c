/* digits.c -- the checker's own reader of labelled IDX files, and the disguise of what it read. */
#include "checks/digits.h"
#include "checks/fill.h"
#include "core/io.h"
#include "rows/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* DIR/NAME-images-idx3-ubyte and DIR/NAME-labels-idx1-ubyte; false when either is missing or wrong. */
static bool open_one(mg_digits *out, const char *dir, const char *name)
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

/* Both parts of DIR/NAME, or neither. */
static bool open_set(const char *dir, const char *name, mg_digits *train, mg_digits *test)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/%s", dir, name);
    if (!open_one(train, folder, "train"))
        return false;
    if (open_one(test, folder, "t10k") && test->pixels == train->pixels)
        return true;
    mg_digits_close(train);
    mg_digits_close(test);
    return false;
}

/* Pixel p moves to where[p], class c becomes name[c]. */
static void disguise(mg_digits *digits, const int64_t *where, const int64_t *name)
{
    uint8_t *moved = malloc((size_t)digits->pixels);
    MT_CHECK(moved, "out of memory for an image");
    for (int64_t n = 0; n < digits->count; n++) {
        uint8_t *image = digits->image + n * digits->pixels;
        for (int64_t p = 0; p < digits->pixels; p++)
            moved[where[p]] = image[p];
        memcpy(image, moved, (size_t)digits->pixels);
        digits->label[n] = (uint8_t)name[digits->label[n]];
    }
    free(moved);
}

static void disguise_both(mg_run *run, mg_digit_sets *sets)
{
    int64_t *where = malloc(sizeof *where * (size_t)sets->train.pixels), name[MG_DIGIT_CLASSES];
    MT_CHECK(where, "out of memory for a permutation");
    mt_rng_permutation(mg_rng(run), where, sets->train.pixels);
    mt_rng_permutation(mg_rng(run), name, MG_DIGIT_CLASSES);
    disguise(&sets->train, where, name);
    disguise(&sets->test, where, name);
    free(where);
}

bool mg_digits_open(mg_run *run, mg_digit_sets *out)
{
    static const mg_digit_sets known[] = { { .folder = "mnist", .name = "MNIST" },
                                           { .folder = "standin", .name = "stand-in digits (no MNIST: make data)" } };
    char cache[PATH_MAX - 64];
    mg_data_folder(run, cache, sizeof cache);
    for (int i = 0; i < MT_COUNT(known); i++) {
        *out = known[i];
        if (open_set(cache, out->folder, &out->train, &out->test)) {
            disguise_both(run, out);
            return true;
        }
    }
    mg_judge(run, MG_ERROR, "no digits to train on in %s: run `make data`", cache);
    return false;
}

void mg_digits_keep(mg_run *run, mg_digits *digits, int64_t count)
{
    const size_t pixels = (size_t)digits->pixels;
    uint8_t *image = malloc(pixels);
    MT_CHECK(image, "out of memory for an image");
    count = mt_min(count, digits->count);
    for (int64_t n = 0; n < count; n++) { /* n changes places with one of those from n on */
        const int64_t k = mg_pick(mg_rng(run), n, digits->count - 1);
        const uint8_t label = digits->label[n];
        memcpy(image, digits->image + (size_t)n * pixels, pixels);
        memmove(digits->image + (size_t)n * pixels, digits->image + (size_t)k * pixels, pixels);
        memcpy(digits->image + (size_t)k * pixels, image, pixels);
        digits->label[n] = digits->label[k];
        digits->label[k] = label;
    }
    digits->count = count;
    free(image);
}

void mg_digits_judge(mg_run *run, const mg_digit_sets *sets, double share, const char *what)
{
    char bar[32];
    snprintf(bar, sizeof bar, "%s %s", run->row->step, sets->folder);
    mg_credit(run, bar, 100 * share);
    mg_note(run, "%s, %s: test accuracy %.2f %%  (bar %.1f %%)", sets->name, what, 100 * share,
            mg_bar(run, bar, "full"));
}
