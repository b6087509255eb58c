/* test_dump.c -- reference dumps: the contents of a valid one; every kind of invalid one is refused. */
#include "testing/dump.h"
#include "tests/aborts.h"

#include <stdlib.h>

#define GOOD "minitorch dump 1\n# by hand\na i32 2 1\nb/c u8\nempty f64 0 3\n\n\1\0\0\0\377\377\377\377\7"

static char path[] = "/tmp/mt_dump_XXXXXX";

static mt_status open_bytes(mt_dump **dump, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
    return mt_dump_open(dump, path);
}

static void make_file(void)
{
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

TestSuite(dump, .init = make_file, .fini = remove_file);

Test(dump, gives_back_what_is_in_it)
{
    mt_dump *dump = NULL;
    cr_assert_eq(open_bytes(&dump, GOOD, sizeof GOOD - 1), MT_OK, "%s", mt_last_error());
    const int32_t *a = mt_dump_array(dump, "a", "i32", MT_SHAPE(2, 1));
    cr_assert(a[0] == 1 && a[1] == -1);
    cr_assert_eq(*(const uint8_t *)mt_dump_array(dump, "b/c", "u8", MT_SCALAR), 7);
    cr_assert_not_null(mt_dump_array(dump, "empty", "f64", MT_SHAPE(0, 3)));
    ABORTS("a is i32 [2,1], not i32 [2]", mt_dump_array(dump, "a", "i32", MT_SHAPE(2)));
    ABORTS("not f32 [2,1]", mt_dump_array(dump, "a", "f32", MT_SHAPE(2, 1)));
    ABORTS("no array d", mt_dump_array(dump, "d", "f32", MT_SCALAR));
    mt_dump_close(dump);
}

Test(dump, every_truncation_is_refused)
{
    for (size_t count = 0; count < sizeof GOOD - 1; count++) {
        mt_dump *dump = NULL;
        cr_assert_eq(open_bytes(&dump, GOOD, count), MT_ERR_FORMAT, "the first %zu bytes of %zu", count,
                     sizeof GOOD - 1);
        cr_assert(!dump && strstr(mt_last_error(), path), "%s", mt_last_error());
    }
}

Test(dump, what_is_not_a_dump_is_refused)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "minitorch dump 2\n\n", "does not begin" },
        { "\x1f\x8b gzip", "does not begin" },
        { "minitorch dump 1\na f32 2\n\n123456789", "after the last" },
        { "minitorch dump 1\na f33 2\n\n", "line 2" },
        { "minitorch dump 1\na\n\n", "line 2" },
        { "minitorch dump 1\n# x\na f32 -1\n\n", "line 3" },
        { "minitorch dump 1\na f32 4 x\n\n0123456789abcdef", "line 2" },
        { "minitorch dump 1\na f32 1000000000000\n\n", "line 2" },
        { "minitorch dump 1\na f32 16 16 16 16 16 16 16 16\n\n", "line 2" },
        { "minitorch dump 1\na f32 1 1 1 1 1 1 1 1 1\n\n0123", "line 2" },
    };
    for (int64_t i = 0; i < MT_COUNT(bad); i++) {
        mt_dump *dump = NULL;
        cr_assert_eq(open_bytes(&dump, bad[i].text, strlen(bad[i].text)), MT_ERR_FORMAT, "%s", bad[i].text);
        cr_assert(!dump && strstr(mt_last_error(), bad[i].words), "%s", mt_last_error());
    }
}

Test(dump, files_that_cannot_be_read)
{
    mt_dump *dump = NULL;
    cr_assert_eq(mt_dump_open(&dump, "/nowhere/x.dump"), MT_ERR_IO);
    cr_assert(strstr(mt_last_error(), "/nowhere/x.dump"));
    cr_assert_eq(mt_dump_open(&dump, "/tmp"), MT_ERR_FORMAT);
    cr_assert_null(dump);
}
