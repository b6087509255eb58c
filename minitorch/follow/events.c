/* events.c -- see follow.h. */
#include "follow/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "ckpt/crc32c.h"

enum { NAME = 64 /* characters at most, so that a length is one byte */, EVENT = 128 };

struct mt_events {
    FILE *out;
    int64_t rows;
};

typedef mt_events events;

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

mt_status mt_events_open(mt_events **out, const char *dir)
{
    static const uint8_t start[] = { 1 << 3, 1 }; /* a SessionLog, whose field 1 is START */
    uint8_t event[EVENT];
    FILE *file = open_file(dir);
    if (!file)
        return MT_ERR_IO;
    events *e = *out = mt_calloc(1, sizeof *e);
    e->out = file;
    MT_TRY(put(e, event, field(begin(event, 0), 3, 2, "brain.Event:2", 13) - event));
    return put(e, event, field(begin(event, 0), 7, 2, start, sizeof start) - event);
}

/* The next field of a line, up to a comma, at *at, which moves behind it; false: there is none. */
static bool next_field(char field[NAME + 1], const char **at)
{
    size_t length = *at ? strcspn(*at, ",\n") : 0;
    if (!*at)
        return false;
    snprintf(field, NAME + 1, "%.*s", (int)length, *at);
    *at = (*at)[length] == ',' ? *at + length + 1 : NULL;
    return true;
}

static int64_t step_of(const char *names, const char *row, int64_t otherwise)
{
    char name[NAME + 1], value[NAME + 1];
    while (next_field(name, &names) && next_field(value, &row))
        if (strcmp(name, "step") == 0)
            return (int64_t)strtod(value, NULL);
    return otherwise;
}

mt_status mt_events_row(mt_events *e, const char *names, const char *row)
{
    char name[NAME + 1], value[NAME + 1];
    int64_t step = step_of(names, row, ++e->rows);
    next_field(name, &names), next_field(value, &row);
    while (next_field(name, &names) && next_field(value, &row))
        if (*value && strcmp(name, "step") != 0)
            MT_TRY(put_scalar(e, name, step, strtod(value, NULL)));
    return MT_OK;
}

void mt_events_close(mt_events *e)
{
    if (e)
        fclose(e->out);
    free(e);
}
