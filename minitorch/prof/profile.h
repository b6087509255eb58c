/* profile.h -- where time, arithmetic and memory go: all spans of all threads in a recording (prof/recorder.h).
 *
 *     mt_profile *profile;
 *     mt_status status = mt_profile_read(&profile, "build/run/spans.bin", 0);
 *     mt_profile_save(profile, "build/run", NULL);  // summary.txt, trace.json, timeline.svg
 *     mt_profile_free(profile);
 *
 * A span counts when it begins and ends within the recording; one that is open at either end is left out, its inner
 * ones are not. The lines are exact for any number of spans; of single spans the latest of each thread are kept. */
#pragma once

#include "core/base.h"
#include "core/device.h"
#include "core/storage.h"

#include <stdio.h>

MT_C_BEGIN

/* All spans of one name, whatever the thread. */
typedef struct mt_profile_line {
    char *name; /* "linear", "linear backward" */
    int64_t calls;
    double total, self;       /* seconds; self: without inner spans. total counts a span within its own name twice */
    double shortest, longest; /* seconds of one call */
    int64_t flops, bytes;     /* counted in them (mt_count_work), outside of spans inside them */
    int64_t peak[MT_DEVICE_COUNT]; /* most bytes allocated during one, as this thread saw it when it allocated */
} mt_profile_line;

/* One span. Times are seconds since mt_profile_begin. */
typedef struct mt_profile_event {
    int line;  /* index of mt_profile.line */
    int depth; /* spans around it in its thread */
    double begin, end;
    int64_t flops, bytes;
    int64_t live[MT_DEVICE_COUNT]; /* bytes allocated when it began */
} mt_profile_event;

typedef struct mt_profile_thread {
    char name[32];           /* "main", "loader 2", "thread 3" */
    mt_profile_event *event; /* in order of begin, outer before inner */
    int64_t count, dropped;  /* kept here; seen but not kept, because later ones needed the room */
} mt_profile_thread;

/* A block of memory that was allocated or freed: only in recordings of mt_record_memory_begin. */
typedef struct mt_profile_block {
    double at;
    uint64_t address; /* 0: all that was allocated before */
    int64_t bytes;    /* negative: freed */
    mt_device device;
    mt_memory_use use; /* of one that is allocated */
    const char *op;    /* the innermost span that was open; its line's name; NULL: none */
} mt_profile_block;

/* What an allocator kept at the end, used or not. */
typedef struct mt_profile_room {
    uint64_t address;
    int64_t bytes;
    mt_device device;
    int before; /* of the same segment; 0: it is the segment's first */
} mt_profile_room;

/* Bytes that were in use from a moment on; from mt_memory_account (memory/report.h). */
typedef struct mt_profile_sample {
    double at;
    mt_device device;
    int64_t live[MT_USES];
} mt_profile_sample;

typedef struct mt_profile {
    double seconds;        /* from begin to end */
    mt_profile_line *line; /* most self time first */
    mt_profile_thread *thread;
    int64_t line_count, thread_count;
    int64_t spans, dropped, flops, bytes; /* of all threads */
    int64_t model_flops, omp_threads;     /* as the program gave them to mt_record_end; 0: unknown */
    int64_t peak[MT_DEVICE_COUNT];        /* most bytes allocated at any moment */
    mt_profile_block *block;              /* in the order of time */
    mt_profile_sample *sample;
    mt_profile_room *room; /* none: each block came from the system */
    int64_t block_count, sample_count, room_count;
} mt_profile;

/* mt_profile_read -- a recording, with the latest `events` spans of each thread (0: 131072, 8 MB a thread).
 * MT_ERR_IO: it cannot be opened; MT_ERR_FORMAT: it is not a recording, or damaged. */
mt_status mt_profile_read(mt_profile **out, const char *path, int64_t events);
void mt_profile_free(mt_profile *profile); /* NULL is allowed */

/* ---- how much of the machine was used ------------------------------------------------------------------- */

/* What the work is compared with. Zero: unknown, not shown. The share of peak FLOP/s that was used for model_flops is
 * the MFU; FLOPs that were counted include what was computed twice to save memory.
 * Source: Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, app. B. */
typedef struct mt_profile_roof {
    double measured_flops; /* FLOP/s that this machine reached just now (mt_machine_flops) */
    double given_flops;    /* FLOP/s of its data sheet */
    double model_flops;    /* FLOPs that the model needs for the work at hand: 6 per weight and token, say */
} mt_profile_roof;

/* ---- looking at it ---------------------------------------------------------------------------------------- */

/* mt_profile_summary -- a table with a line per name. roof: NULL: no utilisation. */
void mt_profile_summary(FILE *out, const mt_profile *profile, const mt_profile_roof *roof);

/* mt_profile_trace -- as JSON for ui.perfetto.dev and chrome://tracing. */
mt_status mt_profile_trace(const mt_profile *profile, const char *path);

/* mt_profile_timeline -- as a picture (SVG): a lane per thread, inner spans below outer ones. */
mt_status mt_profile_timeline(const mt_profile *profile, const char *path);

/* mt_profile_save -- all three into an existing folder. Files are replaced only when they are complete: MT_ERR_IO
 * leaves an older one unchanged. */
mt_status mt_profile_save(const mt_profile *profile, const char *folder, const mt_profile_roof *roof);

MT_C_END
