/* io_read.c -- a whole file in memory. */
#include "core/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
