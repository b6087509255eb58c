/* test_disk_sim.c -- the simulated disk: it behaves like a disk, fails the call that is asked for, and a power cut
 * leaves what no fsync had secured in every way that the contract names. */
#include "must.h"
#include "testing/disk_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static mt_io *disk;

static void begin(void)
{
    disk = mt_disk_sim_new();
    mt_io_use(disk);
}

static void end(void)
{
    mt_io_use(NULL);
    mt_disk_sim_free(disk);
}

TestSuite(disk_sim, .init = begin, .fini = end);

static mt_status put_text(const char *path, const char *text)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    fputs(text, file.out);
    return mt_file_writer_close(&file);
}

/* The text of a file, "" for an empty one, "-" for none, "0" for zeros. */
static const char *text_of(mt_io *io, const char *path)
{
    static char text[64];
    int64_t size;
    const uint8_t *bytes = mt_disk_sim_file(io, path, &size);
    if (!bytes)
        return "-";
    memcpy(text, bytes, (size_t)size);
    text[size] = 0;
    return size > 0 && bytes[0] == 0 ? "0" : text;
}

static void note(void *user, const char *name)
{
    strcat(strcat(user, name), " ");
}

Test(disk_sim, behaves_like_a_disk)
{
    char names[256] = "";
    mt_file_map map;
    cr_assert_eq(put_text("/d/a", "one"), MT_ERR_IO, "no such folder");
    cr_assert(disk->mkdir(disk, "/d") == 0 && disk->mkdir(disk, "/d") == -1 && errno == EEXIST);
    cr_assert_eq(put_text("/d/a", "one"), MT_OK);
    cr_assert_eq(put_text("/d/a", "two"), MT_OK);
    cr_assert(mt_file_map_open(&map, "/d/a") == MT_OK && map.size == 3 && memcmp(map.bytes, "two", 3) == 0);
    mt_file_map_close(&map);
    cr_assert(mt_file_map_open(&map, "/d/none") == MT_ERR_IO && mt_file_map_open(&map, "/d") == MT_ERR_IO);
    cr_assert_eq(put_text("/d/b", ""), MT_OK);
    cr_assert_eq(disk->list(disk, "/d", note, names), 0);
    cr_assert_str_eq(names, "a b ");
    cr_assert(disk->remove(disk, "/d") == -1 && errno == ENOTEMPTY);
    cr_assert(disk->remove(disk, "/d/a") == 0 && disk->remove(disk, "/d/a") == -1 && errno == ENOENT);
    cr_assert(disk->remove(disk, "/d/b") == 0 && disk->remove(disk, "/d") == 0);
    cr_assert(disk->list(disk, "/d", note, names) == -1 && disk->fsync_dir(disk, "/d") == -1);
}

Test(disk_sim, one_program_locks_a_folder)
{
    disk->mkdir(disk, "/d");
    int fd = disk->lock(disk, "/d");
    cr_assert(fd >= 0 && disk->lock(disk, "/d") == -1 && errno == EWOULDBLOCK);
    disk->close(disk, fd);
    cr_assert(disk->lock(disk, "/d") >= 0);
}

/* A file that replaces another: create, write, name, rename. Whichever fails, the old one stays, and nothing else. */
Test(disk_sim, each_call_fails_in_turn)
{
    int64_t n = 0;
    put_text("/a", "old");
    for (bool failed = true; failed; n++) {
        char names[256] = "";
        mt_disk_sim_fail(disk, n, ENOSPC, false);
        mt_status status = put_text("/a", "new");
        failed = mt_disk_sim_failed(disk);
        mt_disk_sim_fail(disk, -1, 0, false);
        cr_assert_eq(status, failed ? MT_ERR_IO : MT_OK, "call %d", (int)n);
        cr_assert(!failed || strstr(mt_last_error(), "No space left"), "%s", mt_last_error());
        cr_assert_str_eq(text_of(disk, "/a"), failed ? "old" : "new");
        disk->list(disk, "/", note, names);
        cr_assert_str_eq(names, "a ");
    }
    cr_assert_eq(n, 5, "four calls, and a turn without a failure");
}

/* All texts of a file that cuts after `ops` changes may leave, in order and with a blank after each. */
static const char *after_cut(char *out, const char *path, int64_t ops)
{
    *out = 0;
    for (int64_t s = 0; s < mt_disk_sim_states(disk, ops); s++) {
        mt_io *left = mt_disk_sim_cut(disk, ops, s);
        strcat(strcat(out, text_of(left, path)), " ");
        cr_assert_eq(mt_disk_sim_states(left, mt_disk_sim_ops(left)), 1, "something is unsynced after the cut");
        mt_disk_sim_free(left);
    }
    return out;
}

Test(disk_sim, a_power_cut_loses_what_was_not_synced)
{
    char texts[512];
    mt_disk_sim_put(disk, "/a", "old", 3);
    int64_t before = mt_disk_sim_ops(disk);
    int fd = disk->create(disk, "/a.tmp");
    disk->write(disk, fd, "new!", 4, 0);
    disk->name(disk, fd, "/a.tmp");
    disk->close(disk, fd);
    cr_assert_str_eq(after_cut(texts, "/a", mt_disk_sim_ops(disk)), "old old old old old old old old ");
    cr_assert_str_eq(after_cut(texts, "/a.tmp", before + 2), "- - - - ", "no name yet");
    cr_assert_str_eq(after_cut(texts, "/a.tmp", before + 3), "- - - -  new! ne 0 ");
    disk->rename(disk, "/a.tmp", "/a");
    cr_assert_str_eq(after_cut(texts, "/a", mt_disk_sim_ops(disk)), "old old old old old old old old  new! ne 0 ",
                     "the name may be there before the bytes");
    disk->fsync(disk, fd);
    cr_assert_str_eq(after_cut(texts, "/a", mt_disk_sim_ops(disk)), "old old new! ");
    disk->fsync_dir(disk, "/");
    cr_assert_str_eq(after_cut(texts, "/a", mt_disk_sim_ops(disk)), "new! ");
}

Test(disk_sim, what_has_no_folder_is_lost)
{
    char texts[512];
    disk->mkdir(disk, "/d");
    mt_disk_sim_put(disk, "/d/a", "x", 1);
    cr_assert_str_eq(after_cut(texts, "/d/a", mt_disk_sim_ops(disk)), "- x ");
    disk->fsync_dir(disk, "/");
    cr_assert_str_eq(after_cut(texts, "/d/a", mt_disk_sim_ops(disk)), "x ");
}

/* The names in a folder do not come back in a new folder of its name, and are not a choice when it is durably gone. */
Test(disk_sim, what_was_in_a_folder_goes_with_it)
{
    char texts[512];
    disk->mkdir(disk, "/d");
    disk->fsync_dir(disk, "/");
    mt_disk_sim_put(disk, "/d/a", "x", 1);
    disk->remove(disk, "/d/a");
    cr_assert_str_eq(after_cut(texts, "/d/a", mt_disk_sim_ops(disk)), "x - ");
    disk->remove(disk, "/d");
    disk->mkdir(disk, "/d");
    cr_assert_str_eq(after_cut(texts, "/d/a", mt_disk_sim_ops(disk)), "x - - - - - ");
    disk->fsync_dir(disk, "/");
    cr_assert_str_eq(after_cut(texts, "/d/a", mt_disk_sim_ops(disk)), "- ");
}
