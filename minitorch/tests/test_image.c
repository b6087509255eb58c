/* test_image.c -- pictures in files: read back, listed by class, and the same through a loader with any workers. */
#include "data/images/image.h"
#include "testing/image_standin.h"
#include "data/loader.h"
#include "temp_dir.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

TestSuite(image, .init = temp_dir_make, .fini = temp_dir_remove, .timeout = 120);

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

/* One flat colour: only the DC coefficient of each 8 x 8 block is not 0; it is quantised in steps of 3 / 8. The change
 * of colour space multiplies its error by at most 1.772 and rounds: in total less than 3. */
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

/* The pixels of the file are one picture as cameras store it that are held in eight ways; by the table of Exif, row and
 * column 0 of what is stored are these edges of the picture. Both byte orders; wrong values are passed over. */
Test(image, a_jpeg_is_turned_as_its_orientation_says)
{
    enum { H = 16, W = 32 }; /* whole blocks of 8 x 8, so that a corner is flat */
    static const char edges[9][2] = { "", "tl", "tr", "br", "bl", "lt", "rt", "rb", "lb" };
    for (int test = 0; test < 20; test++) {
        int value = test % 10, valid = value >= 1 && value <= 8 ? value : 1;
        bool little = test >= 10;
        uint8_t segment[] = { 0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
                              0,    1,    1, 18, 0,   3,   0,   0,   0, 1, 0,   0,   0, 0,  0, 0, 0, 0 };
        static const uint8_t numbers[] = { 12, 2, 14, 4, 18, 2, 20, 2, 22, 2, 24, 4, 28, 2 };
        static uint8_t pixels[H * W * 3], file[1 << 16];
        mt_image drawn = { pixels, H, W }, read;
        segment[29] = (uint8_t)value;
        memcpy(segment + 10, little ? "II" : "MM", 2);
        for (int i = 0; little && i < (int)sizeof numbers; i += 2)
            for (int j = 0; j < numbers[i + 1] / 2; j++) {
                uint8_t *a = segment + numbers[i] + j, *b = segment + numbers[i] + numbers[i + 1] - 1 - j, kept = *a;
                *a = *b;
                *b = kept;
            }
        memset(pixels, 0, sizeof pixels); /* the corner of row 0 and column 0 is white */
        for (int y = 0; y < 8; y++)
            memset(pixels + y * W * 3, 255, 8 * 3);
        cr_assert_eq(mt_image_write(in_dir("a.jpg"), &drawn), MT_OK);
        FILE *f = fopen(in_dir("a.jpg"), "rb");
        size_t n = fread(file, 1, sizeof file, f);
        fclose(f);
        f = fopen(in_dir("a.jpg"), "wb");
        fwrite(file, 1, 2, f);
        fwrite(segment, 1, sizeof segment, f);
        fwrite(file + 2, 1, n - 2, f);
        fclose(f);
        cr_assert_eq(mt_image_read(&read, in_dir("a.jpg")), MT_OK, "%s", mt_last_error());
        cr_assert(read.height == (valid >= 5 ? W : H) && read.width == (valid >= 5 ? H : W));
        bool bottom = memchr(edges[valid], 'b', 2), right = memchr(edges[valid], 'r', 2);
        int64_t y = bottom ? read.height - 1 : 0, x = right ? read.width - 1 : 0;
        for (int64_t i = 0; i < read.height; i += read.height - 1)
            for (int64_t j = 0; j < read.width; j += read.width - 1)
                cr_assert_eq(read.pixel[(i * read.width + j) * 3] > 128, i == y && j == x,
                             "orientation %d: row %ld, column %ld", value, (long)i, (long)j);
        mt_image_free(&read);
    }
}

/* Compared with libjpeg's pixels (tests/data/jpeg_422.c); the decoders differ by rounding, by 2 at most. With the
 * weights of stb_image 2.27 the last column but one is off by up to 107. */
Test(image, colour_at_half_the_width_is_interpolated_to_the_last_column)
{
    uint8_t want[16 * 8 * 3];
    mt_image read;
    FILE *file = fopen("minitorch/tests/data/jpeg_422.rgb", "rb");
    cr_assert(file && fread(want, 1, sizeof want, file) == sizeof want, "run this from the root");
    fclose(file);
    cr_assert_eq(mt_image_read(&read, "minitorch/tests/data/jpeg_422.jpg"), MT_OK, "%s", mt_last_error());
    cr_assert(read.height == 8 && read.width == 16);
    for (int i = 0; i < 16 * 8 * 3; i++)
        cr_assert_leq(abs(read.pixel[i] - want[i]), 2, "row %d, column %d: %d, expected %d", i / 48, i / 3 % 16,
                      read.pixel[i], want[i]);
    mt_image_free(&read);
}

/* No file may grow beyond 1000 bytes, which simulates a full disk for larger pictures. */
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

/* dir is 4088 bytes long, so that dir/a/1.png is a valid path and dir/giraffes is too long: skipping it would change
 * the classes. */
Test(image, a_class_with_too_long_a_path_is_refused)
{
    enum { LENGTH = 4088, STEP = 100 };
    static uint8_t pixels[3];
    static char dir[LENGTH + 1], name[STEP];
    strcpy(dir, temp_dir);
    cr_assert_eq(chdir(temp_dir), 0);
    for (int64_t have = (int64_t)strlen(dir); have < LENGTH; have = (int64_t)strlen(dir)) {
        int64_t left = LENGTH - have - 1, part = left > STEP ? STEP / 2 : mt_min(left, STEP - 1);
        memset(name, 'd', (size_t)part);
        name[part] = 0;
        strcat(strcat(dir, "/"), name);
        cr_assert(mkdir(name, 0777) == 0 && chdir(name) == 0);
    }
    cr_assert_eq(mkdir("a", 0777), 0);
    cr_assert_eq(mt_image_write("a/1.png", &(mt_image){ pixels, 1, 1 }), MT_OK, "%s", mt_last_error());
    mt_augment a = mt_augment_default(1, 1);
    mt_dataset *set = NULL;
    cr_assert_eq(mt_image_folder_open(&set, dir, &a), MT_OK, "%s", mt_last_error());
    mt_dataset_close(set);
    cr_assert_eq(mkdir("giraffes", 0777), 0);
    cr_assert_eq(mt_image_folder_open(&set, dir, &a), MT_ERR_ARGUMENT, "%s", mt_last_error());
    SAYS("the path is too long");
    cr_assert_eq(chdir("/"), 0);
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

/* A line of 400 pixels would become 64 x 25,600, more than MT_IMAGE_SIDE_MAX. */
Test(image, a_picture_too_long_to_be_resized_is_refused)
{
    static uint8_t pixels[400 * 3];
    static float x[3 * 64 * 64];
    mt_augment a = mt_augment_default(64, 64);
    for (int turned = 0; turned < 2; turned++)
        for (int64_t longer = 200; longer <= 400; longer += 200) {
            mt_image line = turned ? (mt_image){ pixels, longer, 1 } : (mt_image){ pixels, 1, longer };
            int32_t y;
            mt_dataset *set;
            mt_rng rng = mt_rng_new(0, MT_STREAM_TEST);
            cr_assert(mkdir(in_dir("line"), 0777) == 0 || errno == EEXIST);
            cr_assert_eq(mt_image_write(in_dir("line/1.png"), &line), MT_OK, "%s", mt_last_error());
            cr_assert_eq(mt_image_folder_open(&set, temp_dir, &a), MT_OK);
            cr_assert_eq(mt_dataset_get(set, 0, &rng, x, &y), longer == 200 ? MT_OK : MT_ERR_FORMAT);
            if (longer == 400)
                SAYS(turned ? "1.png: 400 x 1 pixels" : "1.png: 1 x 400 pixels");
            mt_dataset_close(set);
        }
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
