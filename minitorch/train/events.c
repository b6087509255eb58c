/* events.c -- see events.h. */
#include "train/events.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "ckpt/crc32c.h"

enum { NAME = 64 /* characters at most, so that a length is one byte */, EVENT = 128 };

typedef struct events {
    FILE *out;
    char *header; /* of the metrics that are followed */
    int64_t rows;
} events;

/* ---- records ------------------------------------------------------------------------------------- */

static uint32_t sum_of(const void *data, int64_t bytes)
{
    uint32_t crc = mt_crc32c(0, data, bytes);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static mt_status put(events *e, const uint8_t *event, int64_t bytes)
{
    uint64_t length = (uint64_t)bytes;
    uint32_t first = sum_of(&length, sizeof length), second = sum_of(event, bytes);
    fwrite(&length, sizeof length, 1, e->out);
    fwrite(&first, sizeof first, 1, e->out);
    fwrite(event, 1, (size_t)bytes, e->out);
    fwrite(&second, sizeof second, 1, e->out);
    return fflush(e->out) == 0 ? MT_OK : mt_fail(MT_ERR_IO, "events for TensorBoard: %s", strerror(errno));
}

/* Field `number` of wire type `type`: 0 varint, 1 eight bytes, 2 bytes with their length, 5 four bytes. */
static uint8_t *tag(uint8_t *to, int number, int type)
{
    *to = (uint8_t)(number << 3 | type);
    return to + 1;
}

static uint8_t *field(uint8_t *to, int number, int type, const void *data, size_t bytes)
{
    to = tag(to, number, type);
    if (type == 2)
        *to++ = (uint8_t)bytes;
    memcpy(to, data, bytes);
    return to + bytes;
}

/* Time and step, which each event begins with. */
static uint8_t *begin(uint8_t *to, int64_t step)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    to = tag(field(to, 1, 1, &seconds, sizeof seconds), 2, 0);
    uint64_t rest = (uint64_t)step;
    for (; rest >= 128; rest >>= 7)
        *to++ = (uint8_t)(rest & 127) | 128;
    *to++ = (uint8_t)rest;
    return to;
}

/* ---- a file -------------------------------------------------------------------------------------- */

static FILE *open_file(const char *dir)
{
    char path[4096];
    struct utsname name = { 0 };
    uname(&name);
    snprintf(path, sizeof path, "%s/events.out.tfevents.%" PRId64 ".%s", dir, (int64_t)time(NULL), name.nodename);
    FILE *file = fopen(path, "wbe");
    if (!file)
        mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    return file;
}

static void close_events(void *user)
{
    events *e = user;
    fclose(e->out);
    free(e->header);
    free(e);
}

static mt_status put_scalar(events *e, const char *name, int64_t step, double value)
{
    uint8_t event[2 * EVENT], one[EVENT], all[EVENT];
    float number = (float)value;
    uint8_t *end = field(one, 1, 2, name, strnlen(name, NAME));
    end = field(end, 2, 5, &number, sizeof number);
    end = field(all, 1, 2, one, (size_t)(end - one));
    end = field(begin(event, step), 5, 2, all, (size_t)(end - all));
    return put(e, event, end - event);
}

/* From here on the events of older files with this step or a later one count for nothing: field 7, a SessionLog, whose
 * field 1 is 1, START. */
static mt_status put_start(events *e, int64_t step)
{
    static const uint8_t start[] = { 1 << 3, 1 };
    uint8_t event[EVENT];
    return put(e, event, field(begin(event, step), 7, 2, start, sizeof start) - event);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static bool by_step(const char *header)
{
    return strncmp(header, "step,", 5) == 0;
}

static mt_status take_row(void *user, const char *row)
{
    events *e = user;
    mt_status status = MT_OK;
    char *next;
    const char *name = e->header;
    double value = strtod(row, &next);
    int64_t step = ++e->rows;
    if (by_step(name))
        step = (int64_t)value;
    while (status == MT_OK && *next == ',' && (name = strchr(name, ','))) {
        char word[NAME + 1];
        name++;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(name, ","), name);
        value = strtod(next + 1, &next);
        status = put_scalar(e, word, step, value);
    }
    return status;
}

mt_status mt_events_follow(mt_metrics *metrics, const char *dir, const char *header, int64_t rows)
{
    uint8_t event[EVENT];
    FILE *file = open_file(dir);
    if (!file)
        return MT_ERR_IO;
    events *e = mt_calloc(1, sizeof *e);
    *e = (events){ file, strdup(header), rows };
    MT_CHECK(e->header, "out of memory");
    mt_status status = put(e, event, field(begin(event, 0), 3, 2, "brain.Event:2", 13) - event);
    double kept = by_step(header) ? mt_metrics_kept(metrics) : (double)rows;
    if (status == MT_OK)
        status = put_start(e, rows == 0 || isnan(kept) ? 0 : (int64_t)kept + 1);
    if (status == MT_OK)
        mt_metrics_watch(metrics, take_row, close_events, e);
    else
        close_events(e);
    return status;
}
