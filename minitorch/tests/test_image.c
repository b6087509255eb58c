/* test_image.c -- pictures in files: read back, refused when cut short, and the same through a loader with any workers. */
#include "data/image.h"
#include "data/image_standin.h"
#include "data/loader.h"
#include "temp_dir.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

TestSuite(image, .init = temp_dir_make, .fini = temp_dir_remove, .timeout = 120);

static int64_t size_of(const char *path)
{
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    return info.st_size;
}

/* ---- files ---------------------------------------------------------------------------------------- */

Test(image, a_png_comes_back_byte_for_byte)
{
    static uint8_t pixels[31 * 17 * 3];
    mt_image drawn = { pixels, 31, 17 }, read;
    mt_image_draw(&drawn, 2, 3, 4);
    cr_assert_eq(mt_image_write(in_dir("a.png"), &drawn), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mt_image_read(&read, in_dir("a.png")), MT_OK, "%s", mt_last_error());
    cr_assert(read.height == 31 && read.width == 17);
    cr_assert_eq(memcmp(read.pixel, pixels, sizeof pixels), 0);
    mt_image_free(&read);
}

/* One flat colour: only the constant of each 8 x 8 block is left, quantised in steps of 3 / 8, and the change of colour space
 * multiplies its error by at most 1.772 and rounds: together less than 3. */
Test(image, a_flat_jpeg_comes_back_nearly)
{
    static uint8_t pixels[40 * 24 * 3];
    static const uint8_t colour[3] = { 200, 100, 50 };
    mt_image drawn = { pixels, 40, 24 }, read;
    for (int i = 0; i < 40 * 24 * 3; i++)
        pixels[i] = colour[i % 3];
    cr_assert_eq(mt_image_write(in_dir("a.jpg"), &drawn), MT_OK);
    cr_assert_eq(mt_image_read(&read, in_dir("a.jpg")), MT_OK, "%s", mt_last_error());
    cr_assert(read.height == 40 && read.width == 24);
    for (int i = 0; i < 40 * 24 * 3; i++)
        cr_assert_lt(abs(read.pixel[i] - colour[i % 3]), 3);
    mt_image_free(&read);
}

/* No file may grow beyond 1000 bytes: what a full disk does to a picture of more. */
static void check_full_disk(const char *name)
{
    static uint8_t pixels[64 * 64 * 3];
    mt_image small = { pixels, 2, 2 }, drawn = { pixels, 64, 64 }, read;
    struct rlimit before, limit;
    mt_image_draw(&drawn, 1, 1, 1);
    cr_assert_eq(mt_image_write(in_dir(name), &small), MT_OK, "%s", mt_last_error());
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    mt_status status = mt_image_write(in_dir(name), &drawn);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert_eq(status, MT_ERR_IO);
    SAYS(name);
    cr_assert_eq(mt_image_read(&read, in_dir(name)), MT_OK, "%s", mt_last_error());
    cr_assert_eq(read.height, 2, "the old picture is still there");
    mt_image_free(&read);
}

Test(image, a_full_disk_is_told_and_leaves_the_old_picture)
{
    check_full_disk("a.png");
    check_full_disk("a.jpg");
}

/* Cut at every length but 0, of which the next test tells: all of them are refused, by name, and leak nothing. */
static void check_cut(const char *name)
{
    static uint8_t pixels[24 * 24 * 3];
    mt_image drawn = { pixels, 24, 24 }, read = { 0 };
    char path[256];
    strcpy(path, in_dir(name));
    mt_image_draw(&drawn, 1, 1, 1);
    cr_assert_eq(mt_image_write(path, &drawn), MT_OK);
    cr_assert_eq(mt_image_read(&read, path), MT_OK, "%s", mt_last_error());
    mt_image_free(&read);
    for (int64_t size = size_of(path) - 1; size >= 1; size--) {
        cut(path, 1);
        cr_assert_eq(mt_image_read(&read, path), MT_ERR_FORMAT, "%d bytes of %s are taken for a picture", (int)size,
                     name);
        cr_assert_null(read.pixel);
        SAYS(path);
    }
}

Test(image, a_png_cut_short_anywhere_is_refused)
{
    check_cut("a.png");
}

Test(image, a_jpeg_cut_short_anywhere_is_refused)
{
    check_cut("a.jpg");
}

/* Bytes at random places changed: a picture or an error, never a crash, a hang or a leak (this counts under ASan). One change
 * in four hits the headers, where it hurts most. */
static void check_corrupt(const char *name)
{
    static uint8_t pixels[40 * 40 * 3];
    mt_image drawn = { pixels, 40, 40 }, read = { 0 };
    mt_rng rng = mt_rng_new(0xbad, MT_STREAM_TEST);
    const char *path = in_dir(name);
    int64_t refusals = 0;
    mt_image_draw(&drawn, 1, 1, 1);
    for (int run = 0; run < 400; run++) {
        cr_assert_eq(mt_image_write(path, &drawn), MT_OK);
        int64_t size = size_of(path), span = mt_rng_below(&rng, 4) ? size : mt_min(size, 400);
        for (int i = 0; i < 3; i++)
            poke(path, mt_rng_below(&rng, span), (int)mt_rng_below(&rng, 256));
        refusals += mt_image_read(&read, path) != MT_OK;
        mt_image_free(&read);
    }
    cr_assert_gt(refusals, 0);
}

Test(image, corrupt_files_do_no_harm)
{
    check_corrupt("a.jpg");
    check_corrupt("a.png");
}

/* Where the mark 0xff, `mark` stands. */
static int64_t mark_in(const char *path, int mark)
{
    static uint8_t bytes[4096];
    FILE *file = fopen(path, "rb");
    int64_t size = (int64_t)fread(bytes, 1, sizeof bytes, file), at = 0;
    fclose(file);
    while (at + 1 < size && (bytes[at] != 0xff || bytes[at + 1] != mark))
        at++;
    return at;
}

/* A black JPEG in which the 16 counts from `counts` on, behind the mark of the Huffman tables, are 255 each: they would overrun
 * the decoder's table. Behind the mark are two bytes of length, then each table's kind, 16 counts and symbols.
 * length: what the segment says of itself; 0: leave it. */
static void check_tables(int64_t counts, int length)
{
    static uint8_t pixels[16 * 16 * 3];
    mt_image read = { 0 };
    const char *path = in_dir("a.jpg");
    cr_assert_eq(mt_image_write(path, &(mt_image){ pixels, 16, 16 }), MT_OK);
    int64_t at = mark_in(path, 0xc4);
    for (int i = 0; i < 16; i++)
        poke(path, at + counts + i, 0xff);
    if (length > 0)
        poke(path, at + 2, length >> 8), poke(path, at + 3, length & 0xff);
    cr_assert_eq(mt_image_read(&read, path), MT_ERR_FORMAT);
    SAYS("a.jpg: not a JPEG picture that can be read: corrupt Huffman table");
}

Test(image, a_huffman_table_that_is_too_large_is_refused)
{
    check_tables(5, 0);
}

/* The first table has 12 symbols. The segment ends behind the first byte of the second. */
Test(image, a_huffman_table_that_begins_at_the_end_of_its_segment_is_refused)
{
    enum { FIRST = 1 + 16 + 12 };
    check_tables(4 + FIRST + 1, 2 + FIRST + 1);
}

/* What a file leaves out may not depend on what was in memory before. glibc fills new memory with ~M_PERTURB. */
static void check_same_every_time(const char *path)
{
    mt_image read[2];
    for (int i = 0; i < 2; i++) {
        mallopt(M_PERTURB, 1 + 100 * i);
        cr_assert_eq(mt_image_read(&read[i], path), MT_OK, "%s", mt_last_error());
    }
    cr_assert(read[0].height == 200 && read[0].width == 200);
    cr_assert_eq(memcmp(read[0].pixel, read[1].pixel, 200 * 200 * 3), 0);
    mt_image_free(&read[0]);
    mt_image_free(&read[1]);
}

Test(image, a_jpeg_with_holes_is_the_same_every_time)
{
    static uint8_t pixels[200 * 200 * 3], bytes[1 << 16], restart[] = { 0xff, 0xdd, 0, 4, 0, 1 };
    mt_image black = { pixels, 200, 200 };
    char path[256];
    strcpy(path, in_dir("a.jpg"));
    cr_assert_eq(mt_image_write(path, &black), MT_OK);
    int64_t size = size_of(path), scan = mark_in(path, 0xda);
    FILE *file = fopen(path, "rb");
    cr_assert_eq((int64_t)fread(bytes, 1, sizeof bytes, file), size);
    fclose(file);
    poke(path, mark_in(path, 0xdb) + 1, 0xfe); /* the tables that undo quantisation become a comment */
    check_same_every_time(path);
    file = fopen(path, "wb"); /* restarts are promised after each block, and none is there: the decoder ends at once */
    fwrite(bytes, 1, (size_t)scan, file);
    fwrite(restart, 1, sizeof restart, file);
    fwrite(bytes + scan, 1, (size_t)(size - scan), file);
    fclose(file);
    check_same_every_time(path);
}

static void refused(const char *path, mt_status status)
{
    mt_image read;
    cr_assert_eq(mt_image_read(&read, path), status, "%s", mt_last_error());
    SAYS(path);
}

Test(image, what_is_no_picture_is_refused)
{
    static uint8_t pixels[16 * 16 * 3];
    FILE *file = fopen(in_dir("empty.png"), "w");
    fclose(file);
    file = fopen(in_dir("text.jpg"), "w");
    for (int i = 0; i < 1000; i++)
        fputs("no picture\n", file);
    fclose(file);
    refused(in_dir("empty.png"), MT_ERR_FORMAT);
    refused(in_dir("text.jpg"), MT_ERR_FORMAT);
    refused(in_dir("nothing.png"), MT_ERR_IO);
    refused(temp_dir, MT_ERR_IO);
    char path[256];
    strcpy(path, in_dir("huge.png"));
    cr_assert_eq(mt_image_write(path, &(mt_image){ pixels, 16, 16 }), MT_OK);
    poke(path, 18, 0x7f); /* 32,528 pixels wide */
    refused(path, MT_ERR_FORMAT);
    SAYS("too large");
    cr_assert_eq(mt_image_write(in_dir("a.bmp"), &(mt_image){ pixels, 16, 16 }), MT_ERR_ARGUMENT);
    cr_assert_eq(mt_image_write(in_dir("no/a.png"), &(mt_image){ pixels, 16, 16 }), MT_ERR_IO);
}

/* ---- folders -------------------------------------------------------------------------------------- */

static mt_augment jittered(void)
{
    mt_augment a = mt_augment_default(20, 16);
    a.resize = 24;
    a.random_crop = true;
    a.flip = 0.5f;
    a.brightness = a.contrast = a.saturation = 0.3f;
    return a;
}

Test(image, classes_and_files_are_in_order_and_others_are_passed_over)
{
    static uint8_t pixels[16 * 16 * 3];
    static const char *const names[] = { "zebra/b.PNG", "zebra/a.jpg", "ant/2.jpeg", "ant/10.png" };
    static const char *const order[] = { "ant/10.png", "ant/2.jpeg", "zebra/a.jpg", "zebra/b.PNG" };
    mt_image image = { pixels, 16, 16 };
    mt_augment a = mt_augment_default(8, 8);
    mt_dataset *set;
    cr_assert(mkdir(in_dir("zebra"), 0777) == 0 && mkdir(in_dir("ant"), 0777) == 0 && mkdir(in_dir(".git"), 0777) == 0);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(mt_image_write(in_dir("t.png"), &image), MT_OK);
        cr_assert_eq(rename(in_dir("t.png"), in_dir(names[i])), 0);
    }
    fclose(fopen(in_dir("ant/readme.txt"), "w"));
    fclose(fopen(in_dir("ant/.hidden.png"), "w"));
    fclose(fopen(in_dir("notes.png"), "w"));
    cr_assert_eq(mt_image_folder_open(&set, temp_dir, &a), MT_OK, "%s", mt_last_error());
    cr_assert_eq(set->count, 4);
    for (int64_t i = 0; i < 4; i++) {
        static float x[3 * 8 * 8];
        int32_t y;
        mt_rng rng = mt_rng_new(0, MT_STREAM_TEST);
        cr_assert_str_eq(mt_image_folder_path(set, i), in_dir(order[i]));
        cr_assert_eq(mt_dataset_get(set, i, &rng, x, &y), MT_OK, "%s", mt_last_error());
        cr_assert_eq(y, i / 2);
    }
    cr_assert_str_eq(mt_image_folder_class(set, 0), "ant");
    cr_assert_str_eq(mt_image_folder_class(set, 1), "zebra");
    cr_assert_null(mt_image_folder_class(set, 2));
    mt_dataset_close(set);
}

static void folder_refused(const char *dir, mt_status status, const char *words)
{
    mt_augment a = mt_augment_default(8, 8);
    mt_dataset *set = NULL;
    cr_assert_eq(mt_image_folder_open(&set, dir, &a), status, "%s", mt_last_error());
    cr_assert_null(set);
    SAYS(dir);
    SAYS(words);
}

Test(image, empty_folders_are_refused)
{
    folder_refused(in_dir("nothing"), MT_ERR_IO, "No such file");
    folder_refused(temp_dir, MT_ERR_FORMAT, "no folder in it");
    cr_assert_eq(mt_image_standin(temp_dir, 1, 1, 16, "png", 0), MT_OK);
    cr_assert_eq(mkdir(in_dir("class1"), 0777), 0);
    folder_refused(temp_dir, MT_ERR_FORMAT, "class1: no picture in it");
    folder_refused(in_dir("class0/000.png"), MT_ERR_IO, "Not a directory");
}

Test(image, a_picture_smaller_than_the_crop_is_resized_or_refused)
{
    static float x[3 * 32 * 32];
    int32_t y;
    mt_augment a = mt_augment_default(32, 32);
    mt_dataset *set;
    mt_rng rng = mt_rng_new(0, MT_STREAM_TEST);
    cr_assert_eq(mt_image_standin(temp_dir, 1, 1, 16, "png", 0), MT_OK);
    cr_assert_eq(mt_image_folder_open(&set, temp_dir, &a), MT_OK);
    cr_assert_eq(mt_dataset_get(set, 0, &rng, x, &y), MT_OK, "%s", mt_last_error());
    mt_dataset_close(set);
    a.resize = 0;
    cr_assert_eq(mt_image_folder_open(&set, temp_dir, &a), MT_OK);
    cr_assert_eq(mt_dataset_get(set, 0, &rng, x, &y), MT_ERR_FORMAT);
    SAYS("000.png: 16 x 16 pixels, smaller than the crop of 32 x 32");
    mt_dataset_close(set);
}

/* ---- through a loader ------------------------------------------------------------------------------ */

enum { COUNT = 12, X = 3 * 20 * 16 };

/* Two epochs' samples, in the order they came. */
static void read_epochs(float *x, int32_t *y, const mt_dataset *set, int workers)
{
    mt_loader_config config = mt_loader_config_default(set);
    config.sampler = mt_sampler_shuffling(set->count, 5);
    config.batch = 5;
    config.workers = workers;
    config.seed = 6;
    mt_loader *loader = mt_loader_new(&config);
    mt_batch b;
    int64_t at = 0;
    for (int epoch = 0; epoch < 2; epoch++)
        for (; mt_loader_next(loader, &b); at += b.count) {
            memcpy(x + at * X, mt_f32(b.x), (size_t)(b.count * X) * sizeof *x);
            memcpy(y + at, mt_data(b.y), (size_t)b.count * sizeof *y);
        }
    cr_assert_eq(mt_loader_status(loader), MT_OK, "%s", mt_last_error());
    cr_assert_eq(at, 2 * COUNT);
    mt_loader_free(loader);
}

Test(image, augmented_pictures_are_the_same_bits_with_0_1_and_4_workers)
{
    static float x[3][2 * COUNT * X];
    static int32_t y[3][2 * COUNT];
    static const int workers[] = { 0, 1, 4 };
    mt_augment a = jittered();
    mt_dataset *set;
    cr_assert_eq(mt_image_standin(temp_dir, 3, 4, 30, "jpg", 0), MT_OK);
    cr_assert_eq(mt_image_folder_open(&set, temp_dir, &a), MT_OK);
    for (int run = 0; run < 3; run++) {
        read_epochs(x[run], y[run], set, workers[run]);
        cr_assert(memcmp(x[0], x[run], sizeof x[0]) == 0 && memcmp(y[0], y[run], sizeof y[0]) == 0);
    }
    mt_dataset_close(set);
}

Test(image, the_same_picture_differs_between_epochs)
{
    static float x[2][X];
    int32_t y;
    mt_augment a = jittered();
    mt_dataset *set;
    cr_assert_eq(mt_image_standin(temp_dir, 1, 1, 30, "png", 0), MT_OK);
    cr_assert_eq(mt_image_folder_open(&set, temp_dir, &a), MT_OK);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        mt_rng rng = mt_sample_rng(1, epoch, 0);
        cr_assert_eq(mt_dataset_get(set, 0, &rng, x[epoch], &y), MT_OK);
    }
    cr_assert_neq(memcmp(x[0], x[1], sizeof x[0]), 0);
    mt_dataset_close(set);
}

Test(image, a_cut_picture_stops_the_loader_with_its_name_or_is_skipped_and_counted)
{
    mt_augment a = jittered();
    mt_dataset *set;
    mt_batch b;
    setenv("MT_LOG", "error", 1);
    cr_assert_eq(mt_image_standin(temp_dir, 2, 3, 30, "jpg", 0), MT_OK);
    cut(in_dir("class1/001.jpg"), size_of(in_dir("class1/001.jpg")) / 2);
    cr_assert_eq(mt_image_folder_open(&set, temp_dir, &a), MT_OK);
    mt_loader_config config = mt_loader_config_default(set);
    config.batch = 2;
    config.workers = 2;
    mt_loader *loader = mt_loader_new(&config);
    int64_t batches = 0;
    while (mt_loader_next(loader, &b))
        batches++;
    cr_assert_eq(batches, 2);
    cr_assert_eq(mt_loader_status(loader), MT_ERR_FORMAT);
    SAYS("class1/001.jpg: the file ends in the middle");
    mt_loader_free(loader);

    config.on_bad = MT_BAD_SKIP;
    loader = mt_loader_new(&config);
    for (batches = 0; mt_loader_next(loader, &b); batches++)
        cr_assert(b.step != 2 || (b.index[0] == 5 && b.index[1] == 5), "the next good picture takes its place");
    cr_assert_eq(batches, 3);
    cr_assert_eq(mt_loader_stats_of(loader).skipped, 1);
    mt_loader_free(loader);
    mt_dataset_close(set);
}
