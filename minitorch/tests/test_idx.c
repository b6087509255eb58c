/* test_idx.c -- IDX files: written files have the published layout; wrong headers are refused with path and offset. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/storage.h"
#include "testing/idx_write.h"

static char dir[64];

static void make_dir(void)
{
    strcpy(dir, "/tmp/mt_idx_XXXXXX");
    cr_assert(mkdtemp(dir) != NULL);
}

static void remove_dir(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    cr_assert(system(command) == 0);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0, "something was not freed");
}

TestSuite(idx, .init = make_dir, .fini = remove_dir);

/* path_of -- DIR/name; valid until the next call. */
static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* put -- a file of the 32-bit words of header (n of them, big-endian), then `bytes` bytes of value fill. */
static const char *put(const char *name, int n, const uint32_t *header, int64_t bytes, int fill)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < n; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            fputc((int)(header[i] >> shift & 255), file);
    for (int64_t i = 0; i < bytes; i++)
        fputc(fill, file);
    cr_assert(fclose(file) == 0);
    return path;
}

#define WORDS(...)                                               \
    (int)(sizeof((uint32_t[]){ __VA_ARGS__ }) / 4), (uint32_t[]) \
    {                                                            \
        __VA_ARGS__                                              \
    }

static mt_status read_header(mt_idx_header *out, const char *path, mt_idx_kind kind)
{
    mt_file_map file;
    mt_status status = mt_file_map_open(&file, path);
    if (status == MT_OK) {
        status = mt_idx_header_read(out, path, file.bytes, file.size, kind);
        mt_file_map_close(&file);
    }
    return status;
}

/* refused -- reading path as kind fails with `status` and a message with path and `words`, and does not change out. */
static void refused(const char *path, mt_idx_kind kind, mt_status status, const char *words)
{
    mt_idx_header out, before;
    memset(&out, 0x5a, sizeof out);
    before = out;
    cr_expect_eq(read_header(&out, path, kind), status, "%s", mt_last_error());
    cr_expect(memcmp(&out, &before, sizeof out) == 0, "out was changed on failure");
    cr_expect(strstr(mt_last_error(), path) != NULL, "no path in: %s", mt_last_error());
    cr_expect(strstr(mt_last_error(), words) != NULL, "no '%s' in: %s", words, mt_last_error());
}

/* The bytes as on LeCun's page: this finds a mistake that reader and writer have in common. */
Test(idx, layout)
{
    static const uint8_t expected[] = { 0, 0, 8, 1, 0, 0, 0, 2, 9, 4 };
    uint8_t got[32];
    mt_idx labels = mt_idx_new(MT_IDX_LABELS, 2, 1, 1);
    labels.data[0] = 9;
    labels.data[1] = 4;
    cr_assert_eq(mt_idx_write(path_of("l"), &labels), MT_OK);
    FILE *file = fopen(path_of("l"), "rb");
    cr_expect_eq(fread(got, 1, sizeof got, file), sizeof expected);
    cr_expect(memcmp(got, expected, sizeof expected) == 0);
    fclose(file);
    mt_idx_free(&labels);
}

Test(idx, empty_set_is_a_file)
{
    mt_idx_header out;
    cr_assert_eq(read_header(&out, put("none", WORDS(0x801, 0), 0, 0), MT_IDX_LABELS), MT_OK, "%s", mt_last_error());
    cr_expect_eq(out.count, 0);
}

Test(idx, sizes)
{
    mt_idx_header out;
    cr_assert_eq(read_header(&out, put("a", WORDS(0x803, 2, 3, 4), 24, 0), MT_IDX_IMAGES), MT_OK);
    cr_expect(out.count == 2 && out.rows == 3 && out.cols == 4 && out.data == 16);
    cr_assert_eq(read_header(&out, put("b", WORDS(0x801, 5), 5, 0), MT_IDX_LABELS), MT_OK);
    cr_expect(out.count == 5 && out.rows == 1 && out.cols == 1 && out.data == 8);
}

Test(idx, wrong_magic)
{
    refused(put("a", WORDS(0x803, 1), 1, 0), MT_IDX_LABELS, MT_ERR_FORMAT, "magic 0x00000803, expected 0x00000801");
    refused(put("b", WORDS(0x801, 8), 8, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "magic 0x00000801, expected 0x00000803");
    refused(put("c", WORDS(0x3c21444f, 1, 1, 1), 1, 0), MT_IDX_IMAGES, MT_ERR_FORMAT,
            "offset 0: magic 0x3c21444f, expected 0x00000803");
    refused(put("d", WORDS(0x803000, 1, 1, 1), 1, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "offset 0: magic");
    refused(put("e", WORDS(0x903, 1, 1, 1), 1, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "offset 0: magic");
}

Test(idx, gzip_says_what_to_do)
{
    refused(put("z", WORDS(0x1f8b0808), 100, 1), MT_IDX_IMAGES, MT_ERR_FORMAT, "run gunzip");
}

Test(idx, truncated)
{
    refused(put("a", 0, NULL, 0, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "offset 0: the file ends");
    refused(put("b", WORDS(0x803, 2, 3), 2, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "offset 14: the file ends");
    refused(put("c", WORDS(0x803, 2, 3, 4), 23, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "offset 39: the file ends");
    refused(put("d", WORDS(0x801, 5), 4, 0), MT_IDX_LABELS, MT_ERR_FORMAT, "offset 12: the file ends");
}

Test(idx, too_long)
{
    refused(put("a", WORDS(0x803, 2, 3, 4), 25, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "offset 41: the file ends");
    refused(put("b", WORDS(0x801, 0), 1, 0), MT_IDX_LABELS, MT_ERR_FORMAT, "offset 9: the file ends");
}

/* Products of sizes that overflow 32 or 64 bits and wrap to a size that the file could have. */
Test(idx, sizes_that_overflow)
{
    refused(put("a", WORDS(0x803, 0xffffffff, 0xffffffff, 0xffffffff), 16, 0), MT_IDX_IMAGES, MT_ERR_FORMAT,
            "the file ends");
    refused(put("b", WORDS(0x803, 0x10000, 0x10000, 1), 0, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "the file ends");
    refused(put("c", WORDS(0x803, 0x40000000, 0x20000000, 0x20), 0, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "the file ends");
    refused(put("d", WORDS(0x801, 0xffffffff), 3, 0), MT_IDX_LABELS, MT_ERR_FORMAT, "the file ends");
    refused(put("e", WORDS(0x803, 1, 0, 28), 0, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "offset 8: images of 0 x 28");
    refused(put("f", WORDS(0x803, 0, 0xffffffff, 0xffffffff), 4, 0), MT_IDX_IMAGES, MT_ERR_FORMAT, "");
}

Test(idx, not_a_file)
{
    refused(dir, MT_IDX_IMAGES, MT_ERR_IO, "a folder");
    refused("/dev/zero", MT_IDX_IMAGES, MT_ERR_IO, "not a regular file");
    refused(path_of("nonesuch"), MT_IDX_IMAGES, MT_ERR_IO, "No such file");
    cr_assert(mkfifo(path_of("pipe"), 0600) == 0);
    refused(path_of("pipe"), MT_IDX_LABELS, MT_ERR_IO, "not a regular file");
}

Test(idx, writing_fails_in_words)
{
    mt_idx labels = mt_idx_new(MT_IDX_LABELS, 4, 1, 1);
    memset(labels.data, 0, 4);
    cr_expect_eq(mt_idx_write("/nonesuch/folder/x", &labels), MT_ERR_IO);
    cr_expect(strstr(mt_last_error(), "/nonesuch/folder/x") != NULL, "%s", mt_last_error());
    cr_assert(mkdir(path_of("taken"), 0700) == 0);
    cr_expect_eq(mt_idx_write(path_of("taken"), &labels), MT_ERR_IO, "renamed over a folder");
    cr_expect(rmdir(path_of("taken")) == 0 && rmdir(dir) == 0, "a temporary file was left behind");
    mt_idx_free(&labels);
}
