/* trace_json.c -- a profile in the Trace Event Format of Chrome, which Perfetto reads too: complete events ("X") with
 * times in microseconds, counters ("C") of live memory, names of threads ("M").
 * Source: "Trace Event Format", Google, docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. */
#include "core/io.h"
#include "prof/profile.h"
#include "prof/put.h"

#include <inttypes.h>
#include <string.h>

static void put_time(FILE *out, const char *key, double seconds)
{
    int64_t ns = (int64_t)(seconds * 1e9 + 0.5); /* not mt_put_fixed: a trace may be longer than 1e9 us */
    fprintf(out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void put_head(FILE *out, const mt_profile *p)
{
    fprintf(out,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"writer\":\"minitorch\",\"spans\":%" PRId64
            ",\"dropped\":%" PRId64 "},\n\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":"
            "{\"name\":\"minitorch\"}}",
            p->spans, p->dropped);
    for (int64_t t = 0; t < p->thread_count; t++) {
        fprintf(out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%" PRId64 ",\"args\":{\"name\":\"",
                t + 1);
        mt_put_json(out, p->thread[t].name);
        fprintf(out,
                "\"}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":%" PRId64
                ",\"args\":{\"sort_index\":%" PRId64 "}}",
                t + 1, t);
    }
}

static void put_event(FILE *out, const mt_profile *p, const mt_profile_event *e, int64_t tid)
{
    double seconds = e->end - e->begin;
    fputs(",\n{\"ph\":\"X\",\"name\":\"", out);
    mt_put_json(out, p->line[e->line].name);
    fprintf(out, "\",\"cat\":\"span\",\"pid\":1,\"tid\":%" PRId64, tid);
    put_time(out, "ts", e->begin);
    put_time(out, "dur", seconds);
    if (e->flops > 0 || e->bytes > 0)
        fprintf(out, ",\"args\":{\"flops\":%" PRId64 ",\"bytes\":%" PRId64 "}", e->flops, e->bytes);
    fputc('}', out);
}

static void put_memory(FILE *out, const mt_profile_event *e)
{
    fputs(",\n{\"ph\":\"C\",\"name\":\"live bytes\",\"pid\":1", out);
    put_time(out, "ts", e->begin);
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        fprintf(out, "%s\"%s\":%" PRId64, d == 0 ? ",\"args\":{" : ",", mt_device_name((mt_device)d), e->live[d]);
    fputs("}}", out);
}

/* Memory is written only where it changed. */
static void put_thread(FILE *out, const mt_profile *p, int64_t t)
{
    const mt_profile_thread *thread = &p->thread[t];
    int64_t live[MT_DEVICE_COUNT] = { 0 };
    for (int64_t i = 0; i < thread->count; i++) {
        const mt_profile_event *e = &thread->event[i];
        put_event(out, p, e, t + 1);
        if (memcmp(live, e->live, sizeof live) != 0)
            put_memory(out, e);
        memcpy(live, e->live, sizeof live);
    }
}

static void put_sample(FILE *out, const mt_profile_sample *s)
{
    fprintf(out, ",\n{\"ph\":\"C\",\"name\":\"memory of %s\",\"pid\":1", mt_device_name(s->device));
    put_time(out, "ts", s->at);
    for (int use = 0; use < MT_USES; use++)
        fprintf(out, "%s\"%s\":%" PRId64, use == 0 ? ",\"args\":{" : ",", mt_use_name[use], s->live[use]);
    fputs("}}", out);
}

mt_status mt_profile_trace(const mt_profile *p, const char *path)
{
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    put_head(file.out, p);
    for (int64_t t = 0; t < p->thread_count; t++)
        put_thread(file.out, p, t);
    for (int64_t i = 0; i < p->sample_count; i++)
        put_sample(file.out, &p->sample[i]);
    fputs("\n]}\n", file.out);
    return mt_file_writer_close(&file);
}
