/* test_io.c -- files that are replaced atomically: completed, abandoned, killed while writing, on a full disk. */
#include "core/io.h"
#include "temp_dir.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

TestSuite(io, .init = temp_dir_make, .fini = temp_dir_remove);

/* The number of files in the test's folder. */
static int files(void)
{
    int count = 0;
    DIR *dir = opendir(temp_dir);
    cr_assert(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void write_text(const char *path, const char *text)
{
    mt_file_writer file;
    cr_assert_eq(mt_file_writer_open(&file, path), MT_OK, "%s", mt_last_error());
    fputs(text, file.out);
    cr_assert_eq(mt_file_writer_close(&file), MT_OK, "%s", mt_last_error());
}

static void expect_text(const char *path, const char *text)
{
    uint8_t *bytes;
    int64_t size;
    mt_file_map map;
    cr_assert_eq(mt_file_read(&bytes, &size, path), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mt_file_map_open(&map, path), MT_OK, "%s", mt_last_error());
    cr_expect(size == (int64_t)strlen(text) && map.size == size);
    cr_expect(size == 0 || (memcmp(bytes, text, (size_t)size) == 0 && memcmp(map.bytes, text, (size_t)size) == 0));
    mt_file_map_close(&map);
    cr_expect(!map.bytes && !map.path);
    free(bytes);
}

Test(io, replaces_a_file_when_it_is_complete)
{
    const char *path = in_dir("file");
    mt_file_writer file;
    write_text(path, "old");
    cr_assert_eq(mt_file_writer_open(&file, path), MT_OK);
    fputs("new text", file.out);
    expect_text(path, "old");
    cr_assert_eq(mt_file_writer_close(&file), MT_OK);
    expect_text(path, "new text");
    cr_expect_eq(files(), 1);
    mode_t mask = umask(0);
    umask(mask);
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0666 & ~mask, "permissions are those of any new file");
}

Test(io, a_relative_name)
{
    cr_assert_eq(chdir(temp_dir), 0);
    write_text("here", "text");
    expect_text("here", "text");
    cr_expect_eq(files(), 1);
}

Test(io, abandoning_changes_nothing)
{
    const char *path = in_dir("file");
    mt_file_writer file;
    write_text(path, "old");
    cr_assert_eq(mt_file_writer_open(&file, path), MT_OK);
    fputs("new", file.out);
    mt_file_writer_abandon(&file);
    expect_text(path, "old");
    cr_expect_eq(files(), 1);
}

Test(io, a_killed_process_leaves_nothing)
{
    const char *path = in_dir("file");
    int status;
    write_text(path, "old");
    pid_t child = fork();
    if (child == 0) {
        mt_file_writer file;
        if (mt_file_writer_open(&file, path) != MT_OK)
            _exit(1);
        fputs("new", file.out);
        fflush(file.out);
        raise(SIGKILL);
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    expect_text(path, "old");
    cr_expect_eq(files(), 1);
}

Test(io, a_full_disk_changes_nothing)
{
    const char *path = in_dir("file");
    mt_file_writer file;
    write_text(path, "old");
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10000, 10000 });
    for (int size = 10001; size <= 1000000; size *= 10) { /* the last write fails, or an earlier one */
        cr_assert_eq(mt_file_writer_open(&file, path), MT_OK);
        for (int i = 0; i < size; i++)
            fputc('x', file.out);
        cr_expect_eq(mt_file_writer_close(&file), MT_ERR_IO);
        SAYS(path);
        expect_text(path, "old");
        cr_expect_eq(files(), 1);
    }
}

static void note(void *user, const char *name)
{
    strcat(user, name);
}

/* The calls of the operating system that a file writer does not make. */
Test(io, folders)
{
    char names[256] = "";
    mt_io *io = mt_io_now();
    cr_assert(io->mkdir(io, in_dir("d")) == 0 && io->mkdir(io, in_dir("d")) == -1 && errno == EEXIST);
    cr_assert(io->fsync_dir(io, in_dir("d")) == 0 && io->fsync_dir(io, in_dir("none")) == -1);
    write_text(in_dir("d/a"), "text");
    cr_assert(io->list(io, in_dir("d"), note, names) == 0 && io->list(io, in_dir("none"), note, names) == -1);
    cr_assert_str_eq(names, "a");
    int lock = io->lock(io, in_dir("d"));
    cr_assert(lock >= 0 && io->lock(io, in_dir("d")) == -1 && errno == EWOULDBLOCK);
    io->close(io, lock);
    lock = io->lock(io, in_dir("d"));
    cr_assert(lock >= 0 && io->close(io, lock) == 0);
    cr_assert(io->remove(io, in_dir("d")) == -1 && io->remove(io, in_dir("d/a")) == 0);
    cr_assert(io->remove(io, in_dir("d")) == 0);
}

/* Overwritten from the start, as by a writer that knows its header last. */
Test(io, seeking_back)
{
    mt_file_writer file;
    cr_assert_eq(mt_file_writer_open(&file, in_dir("file")), MT_OK);
    fputs("0000 and more", file.out);
    cr_assert_eq(fseek(file.out, 1, SEEK_SET), 0);
    fputs("12", file.out);
    cr_assert_eq(ftell(file.out), 3);
    cr_assert_eq(mt_file_writer_close(&file), MT_OK);
    expect_text(in_dir("file"), "0120 and more");
}

Test(io, no_such_folder)
{
    mt_file_writer file;
    const char *path = in_dir("none/file");
    cr_expect_eq(mt_file_writer_open(&file, path), MT_ERR_IO);
    SAYS("No such file");
}

Test(io, reading_what_is_no_file)
{
    uint8_t *bytes;
    int64_t size;
    mt_file_map map;
    cr_expect_eq(mt_file_read(&bytes, &size, in_dir("none")), MT_ERR_IO);
    SAYS("No such file");
    cr_expect_eq(mt_file_map_open(&map, temp_dir), MT_ERR_IO);
    SAYS("a folder");
    write_text(in_dir("empty"), "");
    expect_text(in_dir("empty"), "");
}
