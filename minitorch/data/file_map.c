/* file_map.c -- mapping files. */
#include "data/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static mt_status map_open_file(mt_file_map *out, const char *path, int fd)
{
    struct stat info;
    void *bytes = NULL;
    if (fstat(fd, &info) < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return mt_fail(MT_ERR_IO, "%s: %s, a file is expected", path,
                       S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    if (info.st_size > 0) {
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED)
            return mt_fail(MT_ERR_IO, "%s: cannot map it: %s", path, strerror(errno));
    }
    char *copy = strdup(path);
    MT_CHECK(copy, "out of memory");
    *out = (mt_file_map){ bytes, info.st_size, copy };
    return MT_OK;
}

mt_status mt_file_map_open(mt_file_map *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe in its place must not hang us */
    if (fd < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    mt_status status = map_open_file(out, path, fd);
    close(fd); /* the map stays */
    return status;
}

void mt_file_map_close(mt_file_map *map)
{
    if (map->bytes)
        munmap((void *)map->bytes, (size_t)map->size);
    free(map->path);
    *map = (mt_file_map){ 0 };
}
