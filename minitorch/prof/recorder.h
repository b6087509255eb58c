/* recorder.h -- writes every span of every thread (core/span.h) to a file, which prof/profile.h reads.
 *
 *     mt_record_begin("build/run/spans.bin");
 *     train();
 *     mt_record_end(flops);                // then: build/release/bin/profile build/run
 *
 * The file is MT_RECORD_MAGIC, then records: an mt_recorded, its name and its second name, both without a final 0,
 * numbers as this machine has them. A program that is killed leaves a file without its end, which can be read as well.
 * One span takes about 110 B and 0.1 us, and so does a block of memory that is allocated or freed. */
#pragma once

#include "core/base.h"
#include "core/device.h"
#include "core/storage.h"

MT_C_BEGIN

#define MT_RECORD_MAGIC "MTSPANS1"

typedef enum mt_record_kind {
    MT_RECORD_THREAD =
        1,           /* before the first span of a thread; name: the system's name of it, depth 1: the main thread */
    MT_RECORD_SPAN,  /* when it ends: inner spans before outer ones */
    MT_RECORD_END,   /* begin to end: the whole recording; flops: the model's; peak: over all of it */
    MT_RECORD_BLOCK, /* begin: when; bytes: its size, negative when it was freed; names: of the span that was open */
    MT_RECORD_ROOM,  /* bytes that an allocator keeps, used or not; thread: how many come before it in its segment */
} mt_record_kind;

typedef struct mt_recorded {
    int16_t kind, depth;  /* depth: spans around it in its thread */
    int32_t thread;       /* 0, 1, ... in the order of their first spans' ends; of END: threads of OpenMP */
    double begin, end;    /* seconds since mt_record_begin */
    double inner;         /* seconds spent in spans inside it */
    int64_t flops, bytes; /* counted in it (mt_count_work), outside of spans inside it */
    union {
        int64_t live[MT_DEVICE_COUNT]; /* bytes allocated when it began */
        struct {                       /* of a block, and of room */
            uint64_t address;          /* 0: all that was allocated before the recording */
            int32_t device, use;       /* mt_memory_use */
        };
    };
    int64_t peak[MT_DEVICE_COUNT]; /* most bytes allocated during it */
    int32_t name, of;              /* lengths of the names that follow: "backward" of "linear" */
} mt_recorded;

/* mt_record_begin -- spans that begin from now on are written to path, which is replaced. MT_ERR_IO: it cannot be
 * opened. Replaces other listeners to spans and allocations.   Aborts: a recording is running. */
mt_status mt_record_begin(const char *path);

/* mt_record_memory_begin -- the same, with every block that is allocated or freed (for memory/report.h). */
mt_status mt_record_memory_begin(const char *path);

/* mt_record_room -- before mt_record_end: an allocator that takes segments from the system keeps these bytes, which are
 * a block of them or free. A segment's come one after the other, by address; `before`: how many of it there were. */
void mt_record_room(mt_device device, const void *data, int64_t bytes, int before);

bool mt_record_running(void); /* a recording is running */

/* mt_record_end -- model_flops: FLOPs that the model needs for what was done, 0: unknown. MT_ERR_IO: not all was
 * written. Spans that are still open are left out.   Aborts: no recording is running. */
mt_status mt_record_end(int64_t model_flops);

MT_C_END
