/* file_map.c -- files mapped or read. */
#include "core/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* open_file -- *fd is open on a regular file of *size bytes; on failure nothing is. */
static mt_status open_file(int *fd, int64_t *size, const char *path)
{
    struct stat info;
    mt_status status = MT_OK;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe in its place must not hang us */
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
    mt_status status = open_file(&fd, &size, path);
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

mt_status mt_file_read(uint8_t **bytes, int64_t *size, const char *path)
{
    int fd;
    int64_t want, have = 0, got = 0;
    mt_status status = open_file(&fd, &want, path);
    if (status != MT_OK)
        return status;
    if (want > MT_FILE_READ_MAX) {
        close(fd);
        return mt_fail(MT_ERR_FORMAT, "%s: %lld bytes, no file of more than %d is read whole", path, (long long)want,
                       MT_FILE_READ_MAX);
    }
    uint8_t *data = malloc((size_t)want + 1);
    MT_CHECK(data, "%s: out of memory for its %lld bytes", path, (long long)want);
    while (have < want && ((got = read(fd, data + have, (size_t)(want - have))) > 0 || (got < 0 && errno == EINTR)))
        have += mt_max(got, 0);
    if (got < 0) {
        status = mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
        free(data);
    } else {
        *bytes = data;
        *size = have; /* less when somebody has cut it short meanwhile */
    }
    close(fd);
    return status;
}
