/* image_folder.c -- a folder of folders of pictures as a data set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/io.h"
#include "core/storage.h"
#include "data/images/image.h"

typedef struct image_folder {
    mt_dataset base;
    mt_augment augment;
    mt_names paths;
    int32_t *label; /* [paths] */
} image_folder;

/* ---- listing files ---------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_visible(const char *name)
{
    return *name != '.';
}

static bool is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return is_visible(name) && dot &&
           (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0);
}

/* Adds the names in a folder that pass the filter, sorted by their bytes, with prefix in front. */
static mt_status list_folder(mt_names *list, const char *folder, const char *prefix, bool (*filter)(const char *name))
{
    mt_names all;
    MT_TRY(mt_names_of(&all, folder));
    if (all.count > 0)
        qsort(all.name, (size_t)all.count, sizeof *all.name, by_bytes);
    for (int64_t i = 0; i < all.count; i++) {
        char path[4096 + 256];
        snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "/" : "", all.name[i]);
        if (filter(all.name[i]))
            mt_names_add(list, path);
    }
    mt_names_free(&all);
    return MT_OK;
}

/* The pictures of a class, if there is a folder of this name. */
static mt_status scan_class(image_folder *set, const char *dir, const char *name)
{
    char folder[4096];
    struct stat info;
    int64_t before = set->paths.count;
    if (snprintf(folder, sizeof folder, "%s/%s", dir, name) >= (int)sizeof folder)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", folder);
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return MT_OK;
    MT_TRY(list_folder(&set->paths, folder, folder, is_picture));
    if (set->paths.count == before)
        return mt_fail(MT_ERR_FORMAT, "%s: no picture in it (.png, .jpg, .jpeg)", folder);
    set->label = mt_realloc(set->label, set->paths.count, sizeof *set->label);
    for (int64_t i = before; i < set->paths.count; i++)
        set->label[i] = before > 0 ? set->label[before - 1] + 1 : 0;
    return MT_OK;
}

static mt_status scan(image_folder *set, const char *dir)
{
    mt_names names = { 0 };
    mt_status status = list_folder(&names, dir, "", is_visible);
    for (int64_t i = 0; i < names.count && status == MT_OK; i++)
        status = scan_class(set, dir, names.name[i]);
    mt_names_free(&names);
    if (status == MT_OK && set->paths.count == 0)
        return mt_fail(MT_ERR_FORMAT, "%s: no folder in it: each class needs one, as in %s/cat/1.jpg", dir, dir);
    return status;
}

/* ---- samples ------------------------------------------------------------------------------------ */

/* The picture resized to a shorter side of `side`; the old one is freed. */
static mt_image resized(mt_image *image, int64_t side)
{
    int64_t shorter = mt_min(image->height, image->width);
    mt_image out = { .height = (image->height * side + shorter / 2) / shorter,
                     .width = (image->width * side + shorter / 2) / shorter };
    out.pixel = mt_alloc(out.height * out.width * 3, MT_CPU);
    mt_resize(&out, image);
    mt_image_free(image);
    return out;
}

/* check_size -- also refuses a long thin picture, which would take gigabytes after resizing though its file is
 * small. */
static mt_status check_size(const mt_image *image, const mt_augment *augment, const char *path)
{
    int64_t shorter = mt_min(image->height, image->width), longer = mt_max(image->height, image->width);
    if (augment->resize > 0 && longer * augment->resize / shorter > MT_IMAGE_SIDE_MAX)
        return mt_fail(MT_ERR_FORMAT,
                       "%s: %" PRId64 " x %" PRId64 " pixels, too long: resized to a shorter side of %" PRId64
                       " the other is longer than %d",
                       path, image->height, image->width, augment->resize, MT_IMAGE_SIDE_MAX);
    if (augment->resize == 0 && (image->height < augment->height || image->width < augment->width))
        return mt_fail(MT_ERR_FORMAT,
                       "%s: %" PRId64 " x %" PRId64 " pixels, smaller than the crop of %" PRId64 " x %" PRId64
                       ": set resize",
                       path, image->height, image->width, augment->height, augment->width);
    return MT_OK;
}

static mt_status folder_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const image_folder *set = (const image_folder *)base;
    const mt_augment *augment = &set->augment;
    const char *path = set->paths.name[index];
    mt_image image;
    MT_TRY(mt_image_read(&image, path));
    mt_status status = check_size(&image, augment, path);
    if (status != MT_OK) {
        mt_image_free(&image);
        return status;
    }
    bool resize = augment->resize > 0 && mt_min(image.height, image.width) != augment->resize;
    if (resize)
        image = resized(&image, augment->resize);
    mt_augment_choice choice = mt_augment_choose(augment, image.height, image.width, rng);
    mt_augment_apply(x, &image, augment, &choice);
    memcpy(y, &set->label[index], sizeof set->label[index]);
    if (resize)
        mt_free(image.pixel, image.height * image.width * 3, MT_CPU);
    else
        mt_image_free(&image);
    return MT_OK;
}

static void folder_close(mt_dataset *base)
{
    image_folder *set = (image_folder *)base;
    mt_names_free(&set->paths);
    free(set->label);
    free(set);
}

static void check_augment(const mt_augment *a)
{
    MT_CHECK(a->height >= 1 && a->width >= 1, "a crop of %" PRId64 " x %" PRId64, a->height, a->width);
    MT_CHECK(a->resize == 0 || a->resize >= mt_max(a->height, a->width),
             "a picture resized to %" PRId64 " does not cover %" PRId64 " x %" PRId64, a->resize, a->height, a->width);
    for (int c = 0; c < 3; c++)
        MT_CHECK(a->stddev[c] > 0, "colour %d cannot be divided by a deviation of %g", c, a->stddev[c]);
    const float spread[3] = { a->brightness, a->contrast, a->saturation };
    for (int i = 0; i < 3; i++)
        MT_CHECK(spread[i] >= 0 && spread[i] <= 1, "a jitter of %g, expected 0 .. 1", spread[i]);
}

mt_status mt_image_folder_open(mt_dataset **out, const char *dir, const mt_augment *augment)
{
    check_augment(augment);
    image_folder *set = mt_calloc(1, sizeof *set);
    set->augment = *augment;
    mt_status status = scan(set, dir);
    if (status != MT_OK) {
        folder_close(&set->base);
        return status;
    }
    set->base = (mt_dataset){ .count = set->paths.count,
                              .x = { MT_F32, MT_SHAPE(3, augment->height, augment->width) },
                              .y = { MT_I32, MT_SCALAR },
                              .get = folder_get,
                              .close = folder_close };
    *out = &set->base;
    return MT_OK;
}

const char *mt_image_folder_path(const mt_dataset *base, int64_t index)
{
    MT_CHECK(base->get == folder_get, "not a set of mt_image_folder_open");
    const mt_names *paths = &((const image_folder *)base)->paths;
    return index >= 0 && index < paths->count ? paths->name[index] : NULL;
}
