/* test_digits.c -- digits as bytes: found, and refused with a message if the files do not belong together. */
#include "temp_dir.h"

#include "core/digits.h"

TestSuite(digits, .init = temp_dir_make, .fini = temp_dir_remove);

enum { PIXELS = 28 * 28 };

/* A file of `header` bytes and then `count` ones, whose byte i is i mod 10. */
static void write_bytes(const char *name, int64_t header, int64_t count)
{
    FILE *out = fopen(in_dir(name), "wb");
    cr_assert_not_null(out);
    for (int64_t i = -header; i < count; i++)
        fputc(i < 0 ? 0 : (int)(i % 10), out);
    cr_assert_eq(fclose(out), 0);
}

static void refused(mt_status why, const char *words)
{
    mt_digits digits;
    cr_assert_eq(mt_digits_open(&digits, "t10k"), why, "%s", mt_last_error());
    SAYS(words);
    mt_digits_close(&digits);
}

Test(digits, images_with_their_labels)
{
    mt_digits digits;
    setenv("MT_DATA", temp_dir, 1);
    cr_assert_eq(mkdir(in_dir("standin"), 0777), 0);
    write_bytes("standin/train-images-idx3-ubyte", 16, 3 * PIXELS);
    write_bytes("standin/train-labels-idx1-ubyte", 8, 3);
    cr_assert_eq(mt_digits_open(&digits, "train"), MT_OK, "%s", mt_last_error());
    cr_assert(digits.count == 3 && digits.pixels == PIXELS);
    cr_assert(digits.image[0] == 0 && digits.image[3 * PIXELS - 1] == (3 * PIXELS - 1) % 10 && digits.label[2] == 2);
    mt_digits_close(&digits);
    cr_assert(!digits.image && digits.count == 0);
}

Test(digits, what_does_not_belong_together_is_refused)
{
    setenv("MT_DATA", temp_dir, 1);
    refused(MT_ERR_IO, "run datasets/fetch mnist");
    cr_assert_eq(mkdir(in_dir("mnist"), 0777), 0);
    write_bytes("mnist/t10k-images-idx3-ubyte", 16, 3 * PIXELS);
    refused(MT_ERR_IO, "run datasets/fetch mnist");
    write_bytes("mnist/t10k-labels-idx1-ubyte", 8, 4);
    refused(MT_ERR_FORMAT, "do not belong together");
    write_bytes("mnist/t10k-labels-idx1-ubyte", 8, 0);
    refused(MT_ERR_FORMAT, "do not belong together");
    write_bytes("mnist/t10k-labels-idx1-ubyte", 8, 3);
    poke(in_dir("mnist/t10k-labels-idx1-ubyte"), 8 + 2, 10);
    refused(MT_ERR_FORMAT, "t10k-labels-idx1-ubyte: label 10");
}
