/* profile.c -- reads what a recording wrote (prof/recorder.h): a line for every name, the latest spans of every
 * thread. */
#include "prof/profile.h"
#include "prof/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_EVENTS = 1 << 17, MOST_THREADS = 1 << 16, MOST_NAME = 1 << 16 };

/* One record of the file; name is "linear backward" for "backward" of "linear". */
typedef struct item {
    mt_recorded record;
    char *name;
    int64_t room;
} item;

/* False at the end of the file. A record that is cut off is its end; anything else that cannot be is *damaged. */
static bool read_item(item *it, FILE *file, bool *damaged)
{
    mt_recorded *r = &it->record;
    if (fread(r, sizeof *r, 1, file) != 1)
        return false;
    *damaged = r->kind < MT_RECORD_THREAD || r->kind > MT_RECORD_ROOM || r->depth < 0 || r->thread < 0 ||
               r->thread > MOST_THREADS || r->name < 0 || r->name > MOST_NAME || r->of < 0 || r->of > MOST_NAME;
    if (*damaged)
        return false;
    if (r->name + r->of + 2 > it->room) {
        it->room = 2 * (r->name + r->of + 2);
        free(it->name);
        it->name = mt_calloc(it->room, 1);
    }
    char *name = it->name + (r->of ? r->of + 1 : 0);
    if (fread(name, 1, (size_t)r->name, file) != (size_t)r->name ||
        fread(it->name, 1, (size_t)r->of, file) != (size_t)r->of)
        return false;
    if (r->of)
        it->name[r->of] = ' ';
    name[r->name] = '\0';
    return true;
}

/* Room for one more in an array of count items, which has room for a power of two. */
static void *one_more(void *array, int64_t count, size_t size)
{
    if ((count & (count - 1)) == 0)
        array = mt_realloc(array, mt_max(1, 2 * count), size);
    return array;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

static mt_profile_line *line_of(mt_profile *p, const char *name)
{
    for (int64_t i = 0; i < p->line_count; i++)
        if (strcmp(p->line[i].name, name) == 0)
            return &p->line[i];
    p->line = one_more(p->line, p->line_count, sizeof *p->line);
    p->line[p->line_count] = (mt_profile_line){ .name = strdup(name) };
    return &p->line[p->line_count++];
}

static void add_to_line(mt_profile_line *line, const mt_recorded *r)
{
    double seconds = r->end - r->begin;
    line->shortest = line->calls == 0 || seconds < line->shortest ? seconds : line->shortest;
    line->longest = seconds > line->longest ? seconds : line->longest;
    line->calls++;
    line->total += seconds;
    line->self += seconds - r->inner;
    line->flops += r->flops;
    line->bytes += r->bytes;
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        line->peak[d] = mt_max(line->peak[d], r->peak[d]);
}

static int by_self(const void *a, const void *b)
{
    const mt_profile_line *x = a, *y = b;
    return x->self != y->self ? (x->self < y->self ? 1 : -1) : strcmp(x->name, y->name);
}

/* ---- threads ------------------------------------------------------------------------------------------------ */

static mt_status new_thread(mt_profile *p, const item *it)
{
    if (it->record.thread != p->thread_count)
        return mt_fail(MT_ERR_FORMAT, "a record is of thread %d; the next new thread is %d", it->record.thread,
                       (int)p->thread_count);
    p->thread = mt_realloc(p->thread, p->thread_count + 1, sizeof *p->thread);
    mt_profile_thread *thread = &p->thread[p->thread_count++];
    *thread = (mt_profile_thread){ 0 };
    if (it->record.depth)
        snprintf(thread->name, sizeof thread->name, "main");
    else
        snprintf(thread->name, sizeof thread->name, "%.20s", it->name[0] ? it->name : "thread");
    return MT_OK;
}

static mt_status add_block(mt_profile *p, const item *it)
{
    const mt_recorded *r = &it->record;
    if (r->device < 0 || r->device >= MT_DEVICE_COUNT || r->use < 0 || r->use >= MT_USES)
        return mt_fail(MT_ERR_FORMAT, "a block on device %d for use %d", r->device, r->use);
    if (r->kind == MT_RECORD_ROOM) {
        p->room = one_more(p->room, p->room_count, sizeof *p->room);
        p->room[p->room_count++] = (mt_profile_room){ r->address, r->bytes, (mt_device)r->device, r->thread };
        return MT_OK;
    }
    p->block = one_more(p->block, p->block_count, sizeof *p->block);
    p->block[p->block_count++] = (mt_profile_block){ .at = r->begin,
                                                     .address = r->address,
                                                     .bytes = r->bytes,
                                                     .device = (mt_device)r->device,
                                                     .use = (mt_memory_use)r->use,
                                                     .op = it->name[0] ? line_of(p, it->name)->name : NULL };
    return MT_OK;
}

/* Others than main are numbered: "loader 1", "thread 2"; a rank has its number already. */
static void number_threads(mt_profile *p)
{
    int number = 0;
    for (int64_t t = 0; t < p->thread_count; t++) {
        size_t length = strlen(p->thread[t].name);
        if (strcmp(p->thread[t].name, "main") != 0 && strncmp(p->thread[t].name, "rank ", 5) != 0)
            snprintf(p->thread[t].name + length, sizeof p->thread[t].name - length, " %d", ++number);
    }
}

/* The first pass over the file: all sums, and how many spans each thread had. */
static mt_status count(mt_profile *p, item *it, FILE *file)
{
    bool damaged = false;
    while (read_item(it, file, &damaged)) {
        const mt_recorded *r = &it->record;
        MT_TRY(r->kind == MT_RECORD_THREAD ? new_thread(p, it) : r->kind >= MT_RECORD_BLOCK ? add_block(p, it) : MT_OK);
        p->seconds = r->end > p->seconds ? r->end : p->seconds;
        for (int d = 0; d < MT_DEVICE_COUNT; d++)
            p->peak[d] = mt_max(p->peak[d], r->peak[d]);
        if (r->kind == MT_RECORD_END) {
            p->model_flops = r->flops;
            p->omp_threads = r->thread;
        } else if (r->kind == MT_RECORD_SPAN) {
            if (r->thread >= p->thread_count)
                return mt_fail(MT_ERR_FORMAT, "a span of thread %d, which has no name", r->thread);
            add_to_line(line_of(p, it->name), r);
            p->thread[r->thread].count++;
            p->spans++;
            p->flops += r->flops;
            p->bytes += r->bytes;
        }
    }
    return damaged ? mt_fail(MT_ERR_FORMAT, "damaged after %lld spans", (long long)p->spans) : MT_OK;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
    const mt_profile_event *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : x->depth - y->depth;
}

static void make_room(mt_profile *p, int64_t events)
{
    for (mt_profile_thread *t = p->thread; t < p->thread + p->thread_count; t++) {
        t->dropped = mt_max(0, t->count - events);
        p->dropped += t->dropped;
        t->count -= t->dropped;
        t->event = mt_calloc(t->count, sizeof *t->event);
    }
}

/* The second pass: all spans but the oldest of each thread. */
static void keep_events(mt_profile *p, item *it, FILE *file)
{
    bool damaged;
    int64_t *seen = mt_calloc(p->thread_count, sizeof *seen);
    while (read_item(it, file, &damaged)) {
        const mt_recorded *r = &it->record;
        if (r->kind != MT_RECORD_SPAN)
            continue;
        mt_profile_thread *thread = &p->thread[r->thread];
        int64_t at = seen[r->thread]++ - thread->dropped;
        if (at < 0)
            continue;
        thread->event[at] = (mt_profile_event){
            (int)(line_of(p, it->name) - p->line), r->depth, r->begin, r->end, r->flops, r->bytes, { 0 }
        };
        memcpy(thread->event[at].live, r->live, sizeof r->live);
    }
    for (mt_profile_thread *t = p->thread; t < p->thread + p->thread_count; t++)
        qsort(t->event, (size_t)t->count, sizeof *t->event, by_begin);
    free(seen);
}

/* The main thread first. */
static void main_first(mt_profile *p)
{
    for (int64_t t = 0; t < p->thread_count; t++)
        if (strcmp(p->thread[t].name, "main") == 0) {
            mt_profile_thread main = p->thread[t];
            memmove(p->thread + 1, p->thread, (size_t)t * sizeof main);
            p->thread[0] = main;
            return;
        }
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

static bool is_recording(FILE *file)
{
    char magic[sizeof MT_RECORD_MAGIC] = "";
    rewind(file);
    return fread(magic, 1, sizeof magic - 1, file) == sizeof magic - 1 && strcmp(magic, MT_RECORD_MAGIC) == 0;
}

mt_status mt_profile_read(mt_profile **out, const char *path, int64_t events)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    item it = { 0 };
    mt_profile *p = mt_calloc(1, sizeof *p);
    mt_status status = is_recording(file) ? count(p, &it, file) : mt_fail(MT_ERR_FORMAT, "not a recording of spans");
    if (status == MT_OK) {
        if (p->line_count > 0)
            qsort(p->line, (size_t)p->line_count, sizeof *p->line, by_self);
        number_threads(p);
        make_room(p, events ? events : DEFAULT_EVENTS);
        is_recording(file);
        keep_events(p, &it, file);
        main_first(p);
        *out = p;
    } else {
        mt_fail(status, "%s: %s", path, mt_last_error());
        mt_profile_free(p);
    }
    free(it.name);
    fclose(file);
    return status;
}

void mt_profile_free(mt_profile *p)
{
    if (!p)
        return;
    for (int64_t i = 0; i < p->line_count; i++)
        free(p->line[i].name);
    for (int64_t i = 0; i < p->thread_count; i++)
        free(p->thread[i].event);
    free(p->line);
    free(p->thread);
    free(p->block);
    free(p->room);
    free(p->sample);
    free(p);
}
