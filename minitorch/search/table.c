/* table.c -- see table.h. */
#include "search/table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"

enum { LINE = 1024 };

static const char *const ends[] = { "done", "failed", "diverged", "timeout" };

static void header(char text[LINE], const mt_sweep_table *t)
{
    int at = snprintf(text, LINE, "job,trial,rung,steps,");
    for (int64_t d = 0; d < t->search->space.count; d++)
        at += snprintf(text + at, LINE - (size_t)at, "%s,", t->search->space.dimension[d].name);
    snprintf(text + at, LINE - (size_t)at, "%.200s,status,seconds", t->metric);
}

/* The columns that say which job it is. */
static int settings(char text[LINE], const mt_sweep_table *t, int64_t number, const mt_job *job)
{
    int at = snprintf(text, LINE, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", number, job->trial, job->rung,
                      job->steps);
    for (int64_t d = 0; d < t->search->space.count; d++)
        at += snprintf(text + at, LINE - (size_t)at, "%s,", mt_space_value(&t->search->space, d, &job->point));
    return at;
}

/* The columns behind them: value,status,seconds. */
static bool result(mt_sweep_row *row, const char *text)
{
    char status[16], *end;
    bool has = *text != ',';
    row->value = has ? strtod(text, &end) : 0;
    if (!isfinite(row->value) || sscanf(has ? end : text, ",%15[a-z],%lf", status, &row->seconds) != 2)
        return false;
    for (int i = 0; i < MT_COUNT(ends); i++)
        if (strcmp(status, ends[i]) == 0) {
            row->end = (mt_job_end)i;
            return has == (i == MT_END_DONE);
        }
    return false;
}

/* Takes one whole line of the file. */
static mt_status take(mt_sweep_table *t, int64_t number, const char *line, size_t length)
{
    char names[LINE], *end;
    if (number == 0) {
        header(names, t);
        if (strlen(names) != length || strncmp(names, line, length) != 0)
            return mt_fail(MT_ERR_FORMAT, "%s has other columns than %s: it belongs to another sweep", t->path, names);
        return MT_OK;
    }
    long long job = strtoll(line, &end, 10);
    if (end == line || *end != ',' || job < 0 || job >= t->count || t->line[job] || memchr(line, 0, length))
        return mt_fail(MT_ERR_FORMAT, "%s:%" PRId64 ": no row of a job of this sweep", t->path, number + 1);
    t->line[job] = strndup(line, length);
    MT_CHECK(t->line[job], "out of memory");
    return MT_OK;
}

static mt_status resume(mt_sweep_table *t)
{
    uint8_t *bytes;
    int64_t size, number = 0, done = 0;
    mt_status status = mt_file_read(&bytes, &size, t->path);
    if (status != MT_OK)
        return status;
    for (const uint8_t *end; status == MT_OK && done < size; done = end + 1 - bytes, number++) {
        end = memchr(bytes + done, '\n', (size_t)(size - done));
        if (!end)
            break;
        status = take(t, number, (const char *)bytes + done, (size_t)(end - bytes - done));
    }
    free(bytes);
    t->bytes = done;
    if (status == MT_OK && (t->fd = open(t->path, O_WRONLY | O_CLOEXEC)) < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", t->path, strerror(errno));
    if (status == MT_OK && ftruncate(t->fd, done) < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", t->path, strerror(errno));
    return status;
}

static mt_status append(mt_sweep_table *t, const char *line)
{
    mt_io *io = mt_io_now();
    int64_t length = (int64_t)strlen(line);
    if (io->write(io, t->fd, line, length, t->bytes) == 0 && io->fsync(io, t->fd) == 0) {
        t->bytes += length;
        return MT_OK;
    }
    mt_fail(MT_ERR_IO, "%s: %s", t->path, strerror(errno));
    return ftruncate(t->fd, t->bytes) == 0 ? MT_ERR_IO : MT_ERR_IO;
}

mt_status mt_sweep_table_open(mt_sweep_table *t, const mt_search *search, const char *metric, const char *path,
                              int64_t jobs, bool resumes)
{
    char names[LINE];
    *t = (mt_sweep_table){ .search = search, .metric = metric, .path = path, .fd = -1, .count = jobs };
    t->line = mt_calloc(mt_max(1, jobs), sizeof *t->line);
    mt_status status = resumes ? resume(t) : MT_OK;
    if (!resumes && (t->fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666)) < 0)
        status = mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    header(names, t);
    strcat(names, "\n");
    if (status == MT_OK && t->bytes == 0)
        status = append(t, names);
    if (status != MT_OK)
        mt_sweep_table_close(t);
    return status;
}

void mt_sweep_table_close(mt_sweep_table *t)
{
    for (int64_t i = 0; i < t->count && t->line; i++)
        free(t->line[i]);
    free(t->line);
    if (t->fd >= 0)
        close(t->fd);
    *t = (mt_sweep_table){ .fd = -1 };
}

mt_status mt_sweep_table_find(const mt_sweep_table *t, int64_t number, const mt_job *job, bool *found,
                              mt_sweep_row *row)
{
    char text[LINE];
    int length = settings(text, t, number, job);
    const char *line = t->line[number];
    *found = line;
    if (line && (strncmp(line, text, (size_t)length) != 0 || !result(row, line + length)))
        return mt_fail(MT_ERR_FORMAT,
                       "%s has the row '%.200s', but job %" PRId64 " of this sweep is '%.200s': it "
                       "belongs to another sweep",
                       t->path, line, number, text);
    return MT_OK;
}

mt_status mt_sweep_table_add(mt_sweep_table *t, int64_t number, const mt_job *job, const mt_sweep_row *row)
{
    char text[LINE];
    int at = settings(text, t, number, job);
    if (row->end == MT_END_DONE)
        at += snprintf(text + at, LINE - (size_t)at, "%.17g", row->value);
    snprintf(text + at, LINE - (size_t)at, ",%s,%.2f\n", ends[row->end], row->seconds);
    mt_status status = append(t, text);
    if (status == MT_OK) {
        text[strlen(text) - 1] = 0;
        t->line[number] = strdup(text);
        MT_CHECK(t->line[number], "out of memory");
    }
    return status;
}

mt_status mt_sweep_table_sort(mt_sweep_table *t)
{
    char names[LINE];
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, t->path);
    if (status != MT_OK)
        return status;
    header(names, t);
    fprintf(file.out, "%s\n", names);
    for (int64_t i = 0; i < t->count; i++)
        if (t->line[i])
            fprintf(file.out, "%s\n", t->line[i]);
    return mt_file_writer_close(&file);
}
