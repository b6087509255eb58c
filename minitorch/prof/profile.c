/* profile.c -- from the records of the threads to lines and events: sums of one name are put together, rings unrolled. */
#include "prof/profile.h"
#include "prof/recorder.h"

#include <stdlib.h>
#include <string.h>

void mt_profile_begin(int64_t events)
{
    mt_recorder_begin(events);
}

static void *zeros(int64_t count, size_t size)
{
    void *array = calloc((size_t)mt_max(count, 1), size);
    MT_CHECK(array, "out of memory");
    return array;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

/* "linear backward" is the whole name of span "backward" of "linear". */
static bool is_called(const char *whole, const mt_record_sum *sum)
{
    size_t length = sum->of ? strlen(sum->of) : 0;
    if (!sum->of)
        return strcmp(whole, sum->name) == 0;
    return strncmp(whole, sum->of, length) == 0 && whole[length] == ' ' && strcmp(whole + length + 1, sum->name) == 0;
}

static int64_t find_line(const mt_profile *p, const mt_record_sum *sum)
{
    int64_t i = 0;
    while (i < p->line_count && !is_called(p->line[i].name, sum))
        i++;
    return i;
}

static char *whole_name(const mt_record_sum *sum)
{
    size_t size = strlen(sum->name) + (sum->of ? strlen(sum->of) + 1 : 0) + 1;
    char *name = zeros((int64_t)size, 1);
    snprintf(name, size, "%s%s%s", sum->of ? sum->of : "", sum->of ? " " : "", sum->name);
    return name;
}

static void add_line(mt_profile_line *to, const mt_profile_line *from)
{
    to->shortest = to->calls == 0 || from->shortest < to->shortest ? from->shortest : to->shortest;
    to->longest = from->longest > to->longest ? from->longest : to->longest;
    to->calls += from->calls;
    to->total += from->total;
    to->self += from->self;
    to->flops += from->flops;
    to->bytes += from->bytes;
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        to->peak[d] = mt_max(to->peak[d], from->peak[d]);
}

static int by_self(const void *a, const void *b)
{
    const mt_profile_line *x = a, *y = b;
    return x->self != y->self ? (x->self < y->self ? 1 : -1) : strcmp(x->name, y->name);
}

static void put_lines(mt_profile *p, const mt_record *record, int64_t count)
{
    int64_t sums = 0;
    for (int64_t i = 0; i < count; i++)
        sums += record[i].sum_count;
    p->line = zeros(sums, sizeof *p->line);
    for (int64_t i = 0; i < count; i++)
        for (int s = 0; s < record[i].sum_count; s++) {
            const mt_record_sum *sum = &record[i].sum[s];
            int64_t at = find_line(p, sum);
            if (at == p->line_count)
                p->line[p->line_count++].name = whole_name(sum);
            add_line(&p->line[at], &sum->line);
            p->flops += sum->line.flops;
            p->bytes += sum->line.bytes;
        }
    qsort(p->line, (size_t)p->line_count, sizeof *p->line, by_self);
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
    const mt_profile_event *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : x->depth - y->depth;
}

static void put_events(const mt_profile *p, mt_profile_thread *thread, const mt_record *r, double begin)
{
    int *line = zeros(r->sum_count, sizeof *line);
    for (int s = 0; s < r->sum_count; s++)
        line[s] = (int)find_line(p, &r->sum[s]);
    thread->count = mt_min(r->seen, r->limit);
    thread->dropped = r->seen - thread->count;
    thread->event = zeros(thread->count, sizeof *thread->event);
    memcpy(thread->name, r->name, sizeof thread->name);
    for (int64_t i = 0; i < thread->count; i++) {
        mt_profile_event *event = &thread->event[i];
        *event = r->ring[i];
        event->line = line[event->line];
        event->begin -= begin;
        event->end -= begin;
    }
    qsort(thread->event, (size_t)thread->count, sizeof *thread->event, by_begin);
    free(line);
}

mt_profile *mt_profile_end(void)
{
    mt_profile *p = zeros(1, sizeof *p);
    double begin, end;
    mt_record *record = mt_recorder_end(&p->thread_count, &begin, &end, p->peak);
    p->seconds = end - begin;
    put_lines(p, record, p->thread_count);
    p->thread = zeros(p->thread_count, sizeof *p->thread);
    for (int64_t i = 0; i < p->thread_count; i++) {
        put_events(p, &p->thread[i], &record[i], begin);
        p->spans += record[i].seen;
        p->dropped += p->thread[i].dropped;
        free(record[i].sum);
        free(record[i].ring);
    }
    free(record);
    return p;
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
    free(p);
}

double mt_profile_utilisation(const mt_profile *p, double model_flops, double peak)
{
    MT_CHECK(peak > 0, "utilisation of a peak of %g FLOP/s", peak);
    double flops = model_flops > 0 ? model_flops : (double)p->flops;
    return p->seconds > 0 ? flops / p->seconds / peak : 0;
}
