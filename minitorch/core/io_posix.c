/* io_posix.c -- mt_io by the calls of the operating system. A new file has no name while it is written (O_TMPFILE), so
 * the kernel removes it when the process dies. On file systems without O_TMPFILE a kill leaves PATH.PID.tmp. */
#include "core/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------ */

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

static int create(mt_io *io, const char *path)
{
    (void)io;
    int fd = open_unnamed(path);
    return fd >= 0 ? fd : open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
}

static int write_all(mt_io *io, int fd, const void *data, int64_t bytes, int64_t at)
{
    (void)io;
    for (int64_t done = 0; done < bytes;) {
        int64_t got = pwrite(fd, (const char *)data + done, (size_t)mt_min(bytes - done, 1 << 30), at + done);
        if (got < 0 && errno != EINTR)
            return -1;
        done += mt_max(got, 0);
    }
    return 0;
}

/* link() cannot replace a file, only rename() can: an old file of that name goes first. */
static int name(mt_io *io, int fd, const char *path)
{
    char link[64];
    struct stat info;
    (void)io;
    if (fstat(fd, &info) != 0)
        return -1;
    if (info.st_nlink > 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    unlink(path);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static int fsync_file(mt_io *io, int fd)
{
    (void)io;
    return fsync(fd);
}

static int close_file(mt_io *io, int fd)
{
    (void)io;
    return close(fd);
}

/* ---- folders ---------------------------------------------------------------------------------- */

static int rename_path(mt_io *io, const char *from, const char *to)
{
    (void)io;
    return rename(from, to);
}

static int exchange_paths(mt_io *io, const char *a, const char *b)
{
    (void)io;
    return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

static int remove_path(mt_io *io, const char *path)
{
    (void)io;
    return remove(path);
}

static int make_folder(mt_io *io, const char *path)
{
    (void)io;
    return mkdir(path, 0777);
}

static int fsync_folder(mt_io *io, const char *path)
{
    (void)io;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? -1 : fsync(fd), problem = errno;
    if (fd >= 0)
        close(fd);
    errno = problem;
    return result;
}

static int list(mt_io *io, const char *path, void (*each)(void *user, const char *name), void *user)
{
    (void)io;
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            each(user, entry->d_name);
    return closedir(folder);
}

static int lock_folder(mt_io *io, const char *folder)
{
    (void)io;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

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

static mt_status map_file(mt_io *io, mt_file_map *out, const char *path)
{
    int fd;
    int64_t size = 0;
    void *bytes = NULL;
    (void)io;
    MT_TRY(mt_file_open(&fd, &size, path));
    if (size > 0)
        bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    int problem = errno;
    close(fd); /* the map stays */
    if (bytes == MAP_FAILED)
        return mt_fail(MT_ERR_IO, "%s: cannot map it: %s", path, strerror(problem));
    *out = (mt_file_map){ .bytes = bytes, .size = size };
    return MT_OK;
}

static void unmap_file(mt_io *io, mt_file_map *map)
{
    (void)io;
    if (map->bytes)
        munmap((void *)map->bytes, (size_t)map->size);
}

static mt_io posix = { create,      write_all,   name,         fsync_file, close_file,  rename_path, exchange_paths,
                       remove_path, make_folder, fsync_folder, list,       lock_folder, map_file,    unmap_file };
static mt_io *now = &posix;

mt_io *mt_io_now(void)
{
    return now;
}

void mt_io_use(mt_io *io)
{
    now = io ? io : &posix;
}
