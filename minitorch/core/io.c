/* io.c -- see io.h. A new file has no name while it is written (O_TMPFILE), so the kernel removes it when the process
 * dies. File systems without O_TMPFILE get a file PATH.PID.tmp, which only a kill leaves behind. */
#include "core/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---------------------------------------------------------------------------------- */

mt_status mt_file_open(int *fd, int64_t *size, const char *path)
{
    struct stat info;
    mt_status status = MT_OK;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe must not block */
    if (*fd < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    if (fstat(*fd, &info) < 0)
        status = mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = mt_fail(MT_ERR_IO, "%s: %s, a file is expected", path,
                         S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    *size = info.st_size;
    if (status != MT_OK)
        close(*fd);
    return status;
}

mt_status mt_file_map_open(mt_file_map *out, const char *path)
{
    int fd;
    int64_t size;
    void *bytes = NULL;
    mt_status status = mt_file_open(&fd, &size, path);
    if (status != MT_OK)
        return status;
    if (size > 0)
        bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    int problem = errno;
    close(fd); /* the map stays */
    if (bytes == MAP_FAILED)
        return mt_fail(MT_ERR_IO, "%s: cannot map it: %s", path, strerror(problem));
    char *copy = strdup(path);
    MT_CHECK(copy, "out of memory");
    *out = (mt_file_map){ bytes, size, copy };
    return MT_OK;
}

void mt_file_map_close(mt_file_map *map)
{
    if (map->bytes)
        munmap((void *)map->bytes, (size_t)map->size);
    free(map->path);
    *map = (mt_file_map){ 0 };
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* A file without a name in the folder of path; -1 where that is not possible or it could not be named later. */
static int open_unnamed(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

mt_status mt_file_writer_open(mt_file_writer *file, const char *path)
{
    file->path = path;
    if (snprintf(file->temp, sizeof file->temp, "%s.%d.tmp", path, (int)getpid()) >= (int)sizeof file->temp)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", path);
    int fd = open_unnamed(path);
    file->unnamed = fd >= 0;
    file->out = file->unnamed ? fdopen(fd, "wb") : fopen(file->temp, "wbe");
    if (!file->out)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    return MT_OK;
}

/* Gives the unnamed file its temporary name: link() cannot replace a file, only rename() can. */
static bool give_name(mt_file_writer *file)
{
    char link[64];
    if (!file->unnamed)
        return true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(file->out));
    unlink(file->temp);
    return linkat(AT_FDCWD, link, AT_FDCWD, file->temp, AT_SYMLINK_FOLLOW) == 0;
}

mt_status mt_file_writer_close(mt_file_writer *file)
{
    errno = 0; /* an earlier failed write left its mark in ferror, but its errno is lost */
    bool good = !ferror(file->out) && fflush(file->out) == 0 && give_name(file);
    good = fclose(file->out) == 0 && good;
    if (good && rename(file->temp, file->path) == 0)
        return MT_OK;
    mt_status status = mt_fail(MT_ERR_IO, "%s: %s", file->path,
                               errno ? strerror(errno) : "could not be written completely: is the disk full?");
    unlink(file->temp);
    return status;
}

void mt_file_writer_abandon(mt_file_writer *file)
{
    fclose(file->out);
    if (!file->unnamed)
        unlink(file->temp);
}
