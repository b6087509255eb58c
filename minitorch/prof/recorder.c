/* recorder.c -- a lane per thread: the thread notes its spans in its own lane, under a lock that nobody else wants until
 * the profile ends. Lanes live as long as their thread and are reused by the next profile.
 *
 * Order of locks: the registry's, then a lane's. */
#include "prof/recorder.h"
#include "core/storage.h"
#include "prof/span.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_EVENTS = 256, FIRST_SUMS = 16, DEFAULT_EVENTS = 1 << 17 };

typedef struct lane {
    pthread_mutex_t lock;
    struct lane *next;
    bool gone, main;
    char name[16]; /* the system's name of the thread; "" when it has none of its own */
    bool open;     /* a profile is running */
    double since;
    mt_record record;
} lane;

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static lane *lanes; /* in order of their threads' first span */
static struct {
    bool running;
    double since;
    int64_t limit;
} now;
static _Atomic int64_t peaks[MT_DEVICE_COUNT];
static _Thread_local lane *mine;
static pthread_key_t at_thread_end;

/* ---- lanes ------------------------------------------------------------------------------------------------ */

static void lane_free(lane *l)
{
    lane **at = &lanes;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_destroy(&l->lock);
    free(l->record.sum);
    free(l->record.ring);
    free(l);
}

/* What the thread noted is still wanted when a profile is running. */
static void thread_ends(void *ended)
{
    lane *l = ended;
    mine = NULL;
    pthread_mutex_lock(&registry);
    l->gone = true;
    if (!now.running)
        lane_free(l);
    pthread_mutex_unlock(&registry);
}

static void make_key(void)
{
    MT_CHECK(pthread_key_create(&at_thread_end, thread_ends) == 0, "no thread-specific key is left");
}

/* A thread that was given no name has its program's. */
static void name_lane(lane *l)
{
    char program[16];
    l->main = gettid() == getpid();
    snprintf(program, sizeof program, "%s", program_invocation_short_name);
    if (pthread_getname_np(pthread_self(), l->name, sizeof l->name) != 0 || strcmp(l->name, program) == 0)
        l->name[0] = '\0';
}

static void open_lane(lane *l)
{
    l->open = now.running;
    l->since = now.since;
    l->record.limit = now.limit;
}

static lane *lane_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    lane **last = &lanes, *l = calloc(1, sizeof *l);
    MT_CHECK(l, "out of memory");
    pthread_once(&once, make_key);
    pthread_mutex_init(&l->lock, NULL);
    name_lane(l);
    pthread_mutex_lock(&registry);
    open_lane(l);
    while (*last)
        last = &(*last)->next;
    *last = l;
    pthread_mutex_unlock(&registry);
    pthread_setspecific(at_thread_end, l);
    return mine = l;
}

/* ---- noting a span ------------------------------------------------------------------------------------------ */

static void *grown(void *array, int64_t count, size_t size)
{
    array = realloc(array, (size_t)count * size);
    MT_CHECK(array, "out of memory: the profiler wants %lld times %zu bytes", (long long)count, size);
    return array;
}

/* The index of the sum of this pair of literals. */
static int find_sum(mt_record *r, const char *name, const char *of)
{
    int *hint = &r->hint[(((uintptr_t)name >> 3) ^ ((uintptr_t)of >> 1)) % MT_RECORD_HINTS], i = *hint;
    if (i < r->sum_count && r->sum[i].name == name && r->sum[i].of == of)
        return i;
    for (i = 0; i < r->sum_count; i++)
        if (r->sum[i].name == name && r->sum[i].of == of)
            return *hint = i;
    if (i == r->sum_capacity) {
        r->sum_capacity = i ? 2 * i : FIRST_SUMS;
        r->sum = grown(r->sum, r->sum_capacity, sizeof *r->sum);
    }
    r->sum[i] = (mt_record_sum){ .name = name, .of = of };
    r->sum_count++;
    return *hint = i;
}

static void add_to_sum(mt_profile_line *line, const mt_span *span)
{
    double seconds = span->end - span->begin;
    line->shortest = line->calls == 0 || seconds < line->shortest ? seconds : line->shortest;
    line->longest = seconds > line->longest ? seconds : line->longest;
    line->calls++;
    line->total += seconds;
    line->self += seconds - span->inner;
    line->flops += span->flops;
    line->bytes += span->bytes;
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        line->peak[d] = mt_max(line->peak[d], span->peak[d]);
}

static void note(mt_record *r, const mt_span *span)
{
    int i = find_sum(r, span->name, span->of);
    add_to_sum(&r->sum[i].line, span);
    if (r->seen == r->capacity && r->capacity < r->limit) {
        r->capacity = mt_min(r->limit, mt_max(FIRST_EVENTS, 2 * r->capacity));
        r->ring = grown(r->ring, r->capacity, sizeof *r->ring);
    }
    mt_profile_event *event = &r->ring[r->seen++ % r->limit];
    *event = (mt_profile_event){ i, span->depth, span->begin, span->end, span->flops, span->bytes, { 0 } };
    memcpy(event->live, span->live, sizeof event->live);
}

/* May come late, when the profile has ended or another one has begun. */
static void on_span(void *user, const mt_span *span)
{
    (void)user;
    lane *l = mine ? mine : lane_new();
    pthread_mutex_lock(&l->lock);
    if (l->open && span->begin >= l->since)
        note(&l->record, span);
    pthread_mutex_unlock(&l->lock);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void on_alloc(void *user, mt_device device, const void *data, int64_t bytes)
{
    (void)user, (void)data;
    if (bytes < 0)
        return;
    int64_t live = mt_live_bytes(device), peak = atomic_load(&peaks[device]);
    while (live > peak && !atomic_compare_exchange_weak(&peaks[device], &peak, live))
        continue;
    mt_span *span = mt_span_innermost();
    if (span)
        span->peak[device] = mt_max(span->peak[device], live);
}

/* ---- begin and end -------------------------------------------------------------------------------------------- */

void mt_recorder_begin(int64_t events)
{
    MT_CHECK(events >= 0, "a profile of %lld events", (long long)events);
    pthread_mutex_lock(&registry);
    MT_CHECK(!now.running, "mt_profile_begin: a profile is running; end it first");
    now.running = true;
    now.limit = events ? events : DEFAULT_EVENTS;
    now.since = mt_now();
    for (lane *l = lanes; l; l = l->next) {
        pthread_mutex_lock(&l->lock);
        open_lane(l);
        pthread_mutex_unlock(&l->lock);
    }
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        atomic_store(&peaks[d], mt_live_bytes((mt_device)d));
    mt_alloc_observe(on_alloc, NULL);
    mt_span_listen(on_span, NULL);
    pthread_mutex_unlock(&registry);
}

/* Close the lane and take its record out; its thread makes a new one when it needs it. */
static mt_record take(lane *l)
{
    pthread_mutex_lock(&l->lock);
    mt_record taken = l->record;
    l->record = (mt_record){ 0 };
    l->open = false;
    pthread_mutex_unlock(&l->lock);
    return taken;
}

static void name_record(mt_record *r, const lane *l, int number)
{
    if (l->main)
        snprintf(r->name, sizeof r->name, "main");
    else
        snprintf(r->name, sizeof r->name, "%s %d", l->name[0] ? l->name : "thread", number);
}

mt_record *mt_recorder_end(int64_t *count, double *begin, double *end, int64_t *peak)
{
    mt_record *records = NULL;
    int number = 1; /* of threads that are not main */
    pthread_mutex_lock(&registry);
    MT_CHECK(now.running, "mt_profile_end: no profile is running; mt_profile_begin starts one");
    mt_span_listen(NULL, NULL);
    mt_alloc_unobserve(on_alloc, NULL);
    now.running = false;
    *begin = now.since;
    *count = 0;
    for (lane *l = lanes, *next; l; l = next) {
        next = l->next;
        mt_record taken = take(l);
        if (taken.seen > 0) {
            name_record(&taken, l, l->main ? 0 : number++);
            int64_t at = l->main ? 0 : *count;
            records = grown(records, ++*count, sizeof *records);
            memmove(records + at + 1, records + at, (size_t)(*count - 1 - at) * sizeof *records);
            records[at] = taken;
        }
        if (l->gone)
            lane_free(l);
    }
    *end = mt_now(); /* now that no lane takes a span any more: none ends later */
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        peak[d] = atomic_load(&peaks[d]);
    pthread_mutex_unlock(&registry);
    return records;
}
