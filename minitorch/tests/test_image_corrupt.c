/* test_image_corrupt.c -- files that are not pictures, truncated, or malicious are refused, or give the same result
 * every time. */
#include "data/images/image.h"
#include "testing/image_standin.h"
#include "temp_dir.h"

#include <malloc.h>

TestSuite(image_corrupt, .init = temp_dir_make, .fini = temp_dir_remove, .timeout = 120);

/* Truncated at every length but 0, which the next test covers: all are refused, by name, without a leak. */
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

Test(image_corrupt, a_png_cut_short_anywhere_is_refused)
{
    check_cut("a.png");
}

Test(image_corrupt, a_jpeg_cut_short_anywhere_is_refused)
{
    check_cut("a.jpg");
}

/* Random bytes are changed: the result is a picture or an error, never a crash, a hang or (under ASan) a leak. One
 * change in four is in the headers, where its effect is largest. */
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

Test(image_corrupt, corrupt_files_never_crash_the_decoder)
{
    check_corrupt("a.jpg");
    check_corrupt("a.png");
}

/* The offset of the marker 0xff, `mark`. */
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

/* A black JPEG in which the 16 counts at offset `counts` after the marker of the Huffman tables are 255 each: they
 * would overrun the decoder's table. After the marker are two bytes of length, then each table's kind, 16 counts and
 * symbols. length: written as the segment's length; 0: not changed. */
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

Test(image_corrupt, a_huffman_table_that_is_too_large_is_refused)
{
    check_tables(5, 0);
}

/* The first table has 12 symbols. The segment ends after the first byte of the second. */
Test(image_corrupt, a_huffman_table_that_begins_at_the_end_of_its_segment_is_refused)
{
    enum { FIRST = 1 + 16 + 12 };
    check_tables(4 + FIRST + 1, 2 + FIRST + 1);
}

/* Missing parts of a file may not be filled with earlier contents of memory. glibc fills new memory with ~M_PERTURB. */
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

Test(image_corrupt, a_jpeg_with_holes_is_the_same_every_time)
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
    file = fopen(path, "wb"); /* restart markers are announced but missing: decoding ends */
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

Test(image_corrupt, what_is_no_picture_is_refused)
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
    cut(path, -(2ll << 30)); /* a hole in the file takes no room on the disk, but would in memory */
    refused(path, MT_ERR_FORMAT);
    SAYS("files above 1073741824 bytes are not read into memory");
    cr_assert_eq(mt_image_write(in_dir("a.bmp"), &(mt_image){ pixels, 16, 16 }), MT_ERR_ARGUMENT);
    cr_assert_eq(mt_image_write(in_dir("no/a.png"), &(mt_image){ pixels, 16, 16 }), MT_ERR_IO);
}
