/* recorder.c -- all threads write to one file, under one lock. */
#include "prof/recorder.h"
#include "core/storage.h"
#include "core/span.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the next five */
static FILE *out;                                        /* NULL: no recording is running */
static double since;
static int32_t threads;   /* that have had a span in this recording */
static int64_t recording; /* its number in this process */
static bool with_blocks;  /* blocks of memory too */
static _Atomic int64_t peaks[MT_DEVICE_COUNT];
static _Thread_local struct {
    int64_t recording;
    int32_t number; /* of this thread in it */
} self;

static void put(mt_recorded record, const char *name, const char *of)
{
    record.name = (int32_t)strlen(name);
    record.of = of ? (int32_t)strlen(of) : 0;
    fwrite_unlocked(&record, sizeof record, 1, out);
    fwrite_unlocked(name, 1, (size_t)record.name, out);
    fwrite_unlocked(of ? of : "", 1, (size_t)record.of, out);
}

/* A thread that was not given a name has its program's: it is written as "". */
static void put_thread(void)
{
    char name[16], program[16];
    snprintf(program, sizeof program, "%s", program_invocation_short_name);
    if (pthread_getname_np(pthread_self(), name, sizeof name) != 0 || strcmp(name, program) == 0)
        name[0] = '\0';
    self.recording = recording;
    self.number = threads++;
    put((mt_recorded){ .kind = MT_RECORD_THREAD, .depth = gettid() == getpid(), .thread = self.number }, name, NULL);
}

/* A span that began before this recording, or ends after it, is left out. */
static void on_span(void *user, const mt_span *span)
{
    (void)user;
    pthread_mutex_lock(&lock);
    if (out && span->begin >= since) {
        if (self.recording != recording)
            put_thread();
        mt_recorded record = { .kind = MT_RECORD_SPAN, .depth = (int16_t)span->depth, .thread = self.number };
        record.begin = span->begin - since, record.end = span->end - since, record.inner = span->inner;
        record.flops = span->flops, record.bytes = span->bytes;
        memcpy(record.live, span->live, sizeof record.live);
        memcpy(record.peak, span->peak, sizeof record.peak);
        put(record, span->name, span->of);
    }
    pthread_mutex_unlock(&lock);
}

static void put_block(mt_device device, const void *data, int64_t bytes)
{
    const mt_span *span = mt_span_innermost();
    mt_memory_use use = mt_alloc_use();
    mt_recorded record = { .kind = MT_RECORD_BLOCK, .bytes = bytes };
    record.address = (uintptr_t)data;
    record.device = device;
    record.use = use != MT_USE_UNSAID ? use : span ? MT_USE_ACTIVATION : MT_USE_OTHER;
    pthread_mutex_lock(&lock);
    record.begin = mt_now() - since;
    if (out)
        put(record, span ? span->name : "", span ? span->of : NULL);
    pthread_mutex_unlock(&lock);
}

static void on_alloc(void *user, mt_device device, const void *data, int64_t bytes)
{
    (void)user;
    if (with_blocks)
        put_block(device, data, bytes);
    if (bytes < 0)
        return;
    int64_t live = mt_live_bytes(device), peak = atomic_load(&peaks[device]);
    while (live > peak && !atomic_compare_exchange_weak(&peaks[device], &peak, live))
        continue;
    mt_span *span = mt_span_innermost();
    if (span)
        span->peak[device] = mt_max(span->peak[device], live);
}

static mt_status begin(const char *path, bool blocks)
{
    MT_CHECK(!out, "mt_record_begin: a recording is running; end it first");
    FILE *file = fopen(path, "we");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    fputs(MT_RECORD_MAGIC, file);
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        atomic_store(&peaks[d], mt_live_bytes((mt_device)d));
    pthread_mutex_lock(&lock);
    threads = 0;
    recording++;
    since = mt_now();
    with_blocks = blocks;
    out = file;
    pthread_mutex_unlock(&lock);
    for (int d = 0; d < MT_DEVICE_COUNT && blocks; d++)
        if (mt_live_bytes((mt_device)d) > 0)
            put_block((mt_device)d, NULL, mt_live_bytes((mt_device)d));
    mt_alloc_observe(on_alloc, NULL);
    mt_span_listen(on_span, NULL);
    return MT_OK;
}

mt_status mt_record_begin(const char *path)
{
    return begin(path, false);
}

mt_status mt_record_memory_begin(const char *path)
{
    return begin(path, true);
}

bool mt_record_running(void)
{
    pthread_mutex_lock(&lock);
    bool running = out != NULL;
    pthread_mutex_unlock(&lock);
    return running;
}

void mt_record_room(mt_device device, const void *data, int64_t bytes, int before)
{
    mt_recorded record = { .kind = MT_RECORD_ROOM, .thread = before, .bytes = bytes };
    record.address = (uintptr_t)data;
    record.device = device;
    pthread_mutex_lock(&lock);
    put(record, "", NULL);
    pthread_mutex_unlock(&lock);
}

mt_status mt_record_end(int64_t model_flops)
{
    MT_CHECK(out, "mt_record_end: no recording is running; mt_record_begin starts one");
    mt_span_listen(NULL, NULL);
    mt_alloc_observe(NULL, NULL);
    pthread_mutex_lock(&lock);
    mt_recorded record = { .kind = MT_RECORD_END, .thread = omp_get_max_threads(), .flops = model_flops };
    record.end = mt_now() - since;
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        record.peak[d] = atomic_load(&peaks[d]);
    put(record, "", NULL);
    bool bad = ferror(out);
    bad = fclose(out) != 0 || bad;
    out = NULL;
    pthread_mutex_unlock(&lock);
    return bad ? mt_fail(MT_ERR_IO, "the spans could not all be written: %s", strerror(errno)) : MT_OK;
}
