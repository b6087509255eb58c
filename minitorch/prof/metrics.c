/* metrics.c -- rows are written whole, by one call each, without a buffer that could be lost. */
#include "prof/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mt_metrics {
    int fd;
    off_t end; /* bytes of whole rows */
    char *path;
};

static mt_status write_line(mt_metrics *metrics, char *line, int length)
{
    line[length++] = '\n';
    ssize_t written = write(metrics->fd, line, (size_t)length);
    if (written == length) {
        metrics->end += length;
        return MT_OK;
    }
    int why = written < 0 ? errno : ENOSPC; /* a file takes less than it is given only when there is no room */
    if (ftruncate(metrics->fd, metrics->end) == 0)
        lseek(metrics->fd, metrics->end, SEEK_SET);
    return mt_fail(MT_ERR_IO, "%s: %s", metrics->path, strerror(why));
}

mt_status mt_metrics_open(mt_metrics **out, const char *path, const char *header)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    mt_metrics *metrics = malloc(sizeof *metrics);
    MT_CHECK(metrics, "host memory is out");
    *metrics = (mt_metrics){ .fd = fd, .path = strdup(path) };
    mt_status status = mt_metrics_row(metrics, "%s", header);
    if (status != MT_OK) {
        mt_metrics_close(metrics);
        return status;
    }
    *out = metrics;
    return MT_OK;
}

/* Bytes of the line of names and of so many rows; -1 when the file does not begin with these. */
static off_t rows_end(FILE *file, const char *header, int64_t rows)
{
    char line[4096];
    size_t names = strlen(header);
    if (!fgets(line, sizeof line, file) || strncmp(line, header, names) != 0 || strcmp(line + names, "\n") != 0)
        return -1;
    for (int64_t row = 0; row < rows; row++)
        if (!fgets(line, sizeof line, file) || !strchr(line, '\n'))
            return -1;
    return ftello(file);
}

mt_status mt_metrics_resume(mt_metrics **out, const char *path, const char *header, int64_t rows)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    off_t end = rows_end(file, header, rows);
    fclose(file);
    if (end < 0)
        return mt_fail(MT_ERR_FORMAT, "%s: not the names %s and %" PRId64 " rows", path, header, rows);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, end) != 0 || lseek(fd, end, SEEK_SET) != end) {
        mt_status status = mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    mt_metrics *metrics = malloc(sizeof *metrics);
    MT_CHECK(metrics, "host memory is out");
    *metrics = (mt_metrics){ .fd = fd, .end = end, .path = strdup(path) };
    *out = metrics;
    return MT_OK;
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
    int length = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    MT_CHECK(length >= 0 && length < (int)sizeof line, "a row of %d characters", length);
    return write_line(metrics, line, length);
}
