/* pictures.c -- see pictures.h. */
#include "train/pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/crc32c.h"
#include "cli/allowed.h"
#include "cli/progress.h"
#include "data/images/image.h"
#include "models/classifier.h"
#include "train/saving.h"

enum { NUMBERS = 3 * MT_PICTURE_SIDE * MT_PICTURE_SIDE, TESTED = 6 /* one of so many, without a folder for them */ };

/* ---- pictures in memory ---------------------------------------------------------------------------------------- */

typedef struct pictures {
    mt_dataset base;
    float *x;   /* [count, NUMBERS] */
    int32_t *y; /* [count] */
} pictures;

static mt_status pictures_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const pictures *set = (const pictures *)base;
    (void)rng;
    memcpy(x, set->x + index * NUMBERS, NUMBERS * sizeof *set->x);
    memcpy(y, set->y + index, sizeof *set->y);
    return MT_OK;
}

static void pictures_close(mt_dataset *base)
{
    pictures *set = (pictures *)base;
    free(set->x);
    free(set->y);
    free(set);
}

static pictures *pictures_new(int64_t room)
{
    pictures *set = mt_calloc(1, sizeof *set);
    set->base = (mt_dataset){
        .x = { MT_F32, MT_SHAPE(NUMBERS) }, .y = { MT_I32, MT_SCALAR }, .get = pictures_get, .close = pictures_close
    };
    set->x = mt_realloc(NULL, room * NUMBERS, sizeof *set->x);
    set->y = mt_realloc(NULL, room, sizeof *set->y);
    return set;
}

/* Every picture of a folder, by all threads. The failure of the first that cannot be read is that of the call. */
static mt_status read_all(pictures *out, const mt_dataset *files, bool quiet)
{
    int64_t failed = files->count, done = 0;
    mt_status status = MT_OK;
    char why[1024] = "";
    mt_progress progress = mt_progress_begin("pictures", files->count);
    progress.mode = quiet ? MT_PROGRESS_OFF : progress.mode;
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < files->count; i++) {
        mt_rng unused = mt_rng_new(1, MT_STREAM_AUGMENT);
        mt_status one = mt_dataset_get(files, i, &unused, out->x + i * NUMBERS, out->y + i);
#pragma omp critical
        {
            if (one != MT_OK && i < failed) {
                failed = i, status = one;
                snprintf(why, sizeof why, "%s", mt_last_error());
            }
            mt_progress_show(&progress, ++done, "reading");
        }
    }
    mt_progress_clear(&progress);
    out->base.count = files->count;
    return status == MT_OK ? MT_OK : mt_fail(status, "%s", why);
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

/* A folder's pictures, and the names of its classes, one behind the other, with a comma and a blank between them. */
static mt_status open_folder(pictures **out, char names[1024], const char *dir, bool quiet)
{
    mt_augment augment = mt_augment_default(MT_PICTURE_SIDE, MT_PICTURE_SIDE);
    mt_dataset *files;
    augment.resize = MT_PICTURE_SIDE;
    for (int c = 0; c < 3; c++)
        augment.mean[c] = 0.5f, augment.stddev[c] = 0.25f;
    MT_TRY(mt_image_folder_open(&files, dir, &augment));
    mt_status status = mt_memory_check(files->count * NUMBERS * (int64_t)sizeof(float), "the pictures", "use fewer");
    pictures *set = status == MT_OK ? pictures_new(files->count) : NULL;
    if (status == MT_OK)
        status = read_all(set, files, quiet);
    int32_t classes = 0;
    *names = 0;
    for (int64_t i = 0; i < files->count && status == MT_OK; i++)
        if (set->y[i] == classes) { /* the first of its class */
            const char *name = mt_image_folder_path(files, i) + strlen(dir) + 1;
            size_t used = strlen(names);
            snprintf(names + used, 1024 - used, "%s%d %.*s", classes ? ", " : "", (int)classes, (int)strcspn(name, "/"),
                     name);
            classes++;
        }
    mt_dataset_close(files);
    if (status == MT_OK && (classes < 2 || classes > MT_CLASSES))
        status =
            mt_fail(MT_ERR_FORMAT, "%s: its pictures are in %d folder%s; make a folder for each class, 2 to %d of them",
                    dir, (int)classes, classes == 1 ? "" : "s", MT_CLASSES);
    if (status == MT_OK)
        *out = set;
    else if (set)
        pictures_close(&set->base);
    return status;
}

/* One of TESTED pictures of each class, in the order of their names, moves to a set of its own. */
static pictures *take_tests(pictures *all)
{
    pictures *test = pictures_new(all->base.count / TESTED + MT_CLASSES);
    int64_t kept = 0, in_class = 0;
    for (int64_t i = 0; i < all->base.count; i++) {
        in_class = i > 0 && all->y[i] == all->y[i - 1] ? in_class + 1 : 0;
        pictures *to = in_class % TESTED == TESTED - 1 ? test : all;
        int64_t at = to == test ? test->base.count++ : kept++;
        memmove(to->x + at * NUMBERS, all->x + i * NUMBERS, NUMBERS * sizeof *all->x);
        to->y[at] = all->y[i];
    }
    all->base.count = kept;
    return test;
}

/* ---- both sets --------------------------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Whether there are class folders and not MNIST's files. */
static bool has_pictures(const char *dir)
{
    mt_names names;
    char path[MT_PATH];
    bool found = false;
    if (mt_mnist_path(path, dir, "train-images", 3) != MT_OK || mt_names_of(&names, dir) != MT_OK)
        return false;
    bool digits = is_folder(dir) && access(path, F_OK) == 0;
    for (int64_t i = 0; i < names.count && !digits; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names.name[i]);
        digits = strstr(names.name[i], "-idx") || strstr(names.name[i], ".idx"); /* one of the four, or zipped */
        found |= *names.name[i] != '.' && is_folder(path);
    }
    mt_names_free(&names);
    return found && !digits;
}

mt_status mt_pictures_open(mt_mnist *out, char sum[9], const char *dir, bool quiet)
{
    char path[MT_PATH], names[1024], others[1024];
    pictures *train = NULL, *test = NULL;
    if (!has_pictures(dir)) {
        MT_TRY(mt_mnist_open(out, dir));
        snprintf(sum, 9, "%s", mt_mnist_path(path, dir, "train-images", 3) == MT_OK ? mt_saving_sum(path) : "none");
        return MT_OK;
    }
    snprintf(path, sizeof path, "%s/test", dir);
    bool apart = is_folder(path);
    if (apart)
        MT_TRY(open_folder(&test, others, path, quiet));
    snprintf(path, sizeof path, apart ? "%s/train" : "%s", dir);
    mt_status status = open_folder(&train, names, path, quiet);
    if (status == MT_OK && apart && strcmp(names, others) != 0)
        status = mt_fail(MT_ERR_FORMAT, "%s: the folders in train are %s, those in test are %s", dir, names, others);
    if (status == MT_OK && !apart)
        test = take_tests(train);
    if (status == MT_OK && test->base.count == 0)
        status = mt_fail(MT_ERR_FORMAT, "%s: no class has %d pictures, of which one is for the test", dir, TESTED);
    if (status != MT_OK) {
        mt_dataset_close(train ? &train->base : NULL);
        mt_dataset_close(test ? &test->base : NULL);
        return status;
    }
    snprintf(sum, 9, "%08x", mt_crc32c(0, train->x, train->base.count * NUMBERS * (int64_t)sizeof(float)));
    printf("%s: %d pictures to learn from, %d for the test; classes: %s\n", dir, (int)train->base.count,
           (int)test->base.count, names);
    *out = (mt_mnist){ &train->base, &test->base };
    return MT_OK;
}
