/* io_read.c -- a whole file in memory. */
#include "core/io.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

mt_status mt_file_no_page(const mt_file_map *map)
{
    static const char *const begins[] = { "<!doctype html", "<html" };
    int64_t at = 0;
    while (at < mt_min(map->size, 512) && (isspace(map->bytes[at]) || map->bytes[at] >= 0x80)) /* a byte-order mark */
        at++;
    for (int i = 0; i < MT_COUNT(begins); i++)
        if (map->size - at >= (int64_t)strlen(begins[i]) &&
            strncasecmp((const char *)map->bytes + at, begins[i], strlen(begins[i])) == 0)
            return mt_fail(MT_ERR_FORMAT,
                           "%s: offset %lld: this is an HTML page, not the file: download the file itself", map->path,
                           (long long)at);
    return MT_OK;
}

mt_status mt_file_read(uint8_t **bytes, int64_t *size, const char *path)
{
    int fd;
    int64_t want, have = 0, got = 0;
    mt_status status = mt_file_open(&fd, &want, path);
    if (status != MT_OK)
        return status;
    if (want > MT_FILE_READ_MAX) {
        close(fd);
        return mt_fail(MT_ERR_FORMAT, "%s: %lld bytes; files above %d bytes are not read into memory", path,
                       (long long)want, MT_FILE_READ_MAX);
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
        *size = have; /* less than `want` when the file became shorter during the read */
    }
    close(fd);
    return status;
}
