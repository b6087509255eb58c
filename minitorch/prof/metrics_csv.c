/* metrics_csv.c -- every row is one write, without a buffer whose contents could be lost. */
#include "prof/metrics_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mt_metrics {
    int fd;
    off_t bytes; /* of complete rows */
    char *path;
};

/* The system takes the lock away when the process ends, however it does. */
static const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

/* The file cut off after `end` bytes. */
static mt_status open_at(mt_metrics **out, const char *path, int flags, off_t end)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0 || ftruncate(fd, end) != 0 || lseek(fd, end, SEEK_SET) != end) {
        mt_status status = mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
        close(fd);
        return status;
    }
    (void)fcntl(fd, F_OFD_SETLK, &lock);
    mt_metrics *metrics = malloc(sizeof *metrics);
    MT_CHECK(metrics, "out of memory");
    *metrics = (mt_metrics){ .fd = fd, .bytes = end, .path = strdup(path) };
    *out = metrics;
    return MT_OK;
}

mt_status mt_metrics_open(mt_metrics **out, const char *path, const char *header)
{
    mt_metrics *metrics = NULL;
    MT_TRY(open_at(&metrics, path, O_CREAT, 0));
    mt_status status = mt_metrics_row(metrics, "%s", header);
    if (status == MT_OK)
        *out = metrics;
    else
        mt_metrics_close(metrics);
    return status;
}

mt_status mt_metrics_resume(mt_metrics **out, const char *path, const char *header, int64_t rows)
{
    char line[4096] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    bool good = fgets(line, sizeof line, file) && strcspn(line, "\n") == strlen(header) &&
                strncmp(line, header, strlen(header)) == 0;
    for (int64_t row = 0; row < rows && good; row++)
        good = fgets(line, sizeof line, file) && strchr(line, '\n');
    off_t end = ftello(file);
    fclose(file);
    if (!good)
        return mt_fail(MT_ERR_FORMAT, "%s: expected the column names %s and %" PRId64 " rows", path, header, rows);
    return open_at(out, path, 0, end);
}

bool mt_metrics_written(int fd)
{
    struct flock other = lock;
    return fcntl(fd, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK;
}

void mt_metrics_close(mt_metrics *metrics)
{
    if (!metrics)
        return;
    close(metrics->fd);
    free(metrics->path);
    free(metrics);
}

mt_status mt_metrics_row(mt_metrics *metrics, const char *fmt, ...)
{
    char line[4096];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof line - 1, fmt, args);
    va_end(args);
    MT_CHECK(length >= 0 && length < (int)sizeof line - 1, "a row of %d characters", length);
    line[length++] = '\n';
    line[length] = 0;
    ssize_t written = write(metrics->fd, line, (size_t)length);
    if (written == length) {
        metrics->bytes += length;
        return MT_OK;
    }
    int why = written < 0 ? errno : ENOSPC; /* a file takes only part of a write when there is no room */
    if (ftruncate(metrics->fd, metrics->bytes) == 0)
        lseek(metrics->fd, metrics->bytes, SEEK_SET);
    return mt_fail(MT_ERR_IO, "%s: %s", metrics->path, strerror(why));
}
