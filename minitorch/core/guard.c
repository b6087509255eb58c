/* guard.c -- see guard.h. Empty unless MT_DEBUG is defined. */
#include "core/guard.h"

#ifdef MT_DEBUG

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h> /* whose macros do nothing without the sanitizer */
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)0)
#endif

enum { FILL = 0xFF, GUARD = 0xA5, SHOWN = 10 };

/* Precedes the first guard; a multiple of 64 bytes, so that the caller's bytes stay aligned. */
typedef struct record {
    _Alignas(64) struct record *next;
    struct record *previous;
    int64_t bytes;
    int64_t number; /* 1, 2, 3 ... in order of allocation: the same in every run with one thread */
} record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static record live = { .next = &live, .previous = &live }; /* ring of all live blocks, oldest first */
static int64_t allocations;
static pid_t owner; /* a forked child does not report its parent's blocks */

static uint8_t *data_of(record *r)
{
    return (uint8_t *)(r + 1) + MT_GUARD_BYTES;
}

static void report_at_exit(int status, void *unused)
{
    int64_t blocks = 0, bytes = 0;
    (void)unused;
    if (status != 0 || getpid() != owner)
        return;
    for (record *r = live.next; r != &live; r = r->next) {
        if (blocks < SHOWN)
            fprintf(stderr, "still live at exit: block of %" PRId64 " bytes, allocation number %" PRId64 "\n", r->bytes,
                    r->number);
        blocks++;
        bytes += r->bytes;
    }
    if (blocks == 0)
        return;
    fprintf(stderr, "%" PRId64 " blocks, %" PRId64 " bytes were never freed: a missing mt_release or mt_scope_end\n",
            blocks, bytes);
    fflush(NULL);
    _Exit(1);
}

int64_t mt_guarded_bytes(int64_t bytes)
{
    return (int64_t)sizeof(record) + MT_GUARD_BYTES + bytes + MT_GUARD_BYTES;
}

void *mt_guard_enter(void *block, int64_t bytes)
{
    record *r = block;
    uint8_t *data = data_of(r);
    memset(data - MT_GUARD_BYTES, GUARD, MT_GUARD_BYTES);
    memset(data, FILL, (size_t)bytes);
    memset(data + bytes, GUARD, MT_GUARD_BYTES);
    ASAN_POISON_MEMORY_REGION(data - MT_GUARD_BYTES, MT_GUARD_BYTES);
    ASAN_POISON_MEMORY_REGION(data + bytes, MT_GUARD_BYTES);
    pthread_mutex_lock(&lock);
    if (owner == 0) {
        owner = getpid();
        on_exit(report_at_exit, NULL);
    }
    *r = (record){ .next = &live, .previous = live.previous, .bytes = bytes, .number = ++allocations };
    live.previous = r->previous->next = r;
    pthread_mutex_unlock(&lock);
    return data;
}

/* Aborts unless all MT_GUARD_BYTES bytes at guard are unchanged. */
static void check_guard(const record *r, const uint8_t *guard, const char *side)
{
    for (int i = 0; i < MT_GUARD_BYTES; i++)
        MT_CHECK(guard[i] == GUARD,
                 "block of %" PRId64 " bytes (allocation number %" PRId64
                 "): byte %d of the guard %s it was written to",
                 r->bytes, r->number, i, side);
}

void *mt_guard_leave(void *data, int64_t bytes)
{
    uint8_t *start = data;
    record *r = (record *)(void *)(start - MT_GUARD_BYTES) - 1;
    ASAN_UNPOISON_MEMORY_REGION(start - MT_GUARD_BYTES, MT_GUARD_BYTES);
    ASAN_UNPOISON_MEMORY_REGION(start + r->bytes, MT_GUARD_BYTES);
    check_guard(r, start - MT_GUARD_BYTES, "before");
    MT_CHECK(r->bytes == bytes, "a block of %" PRId64 " bytes (allocation number %" PRId64 ") is freed as %" PRId64,
             r->bytes, r->number, bytes);
    check_guard(r, start + bytes, "after");
    memset(start, FILL, (size_t)bytes);
    pthread_mutex_lock(&lock);
    r->previous->next = r->next;
    r->next->previous = r->previous;
    pthread_mutex_unlock(&lock);
    return r;
}

#endif
