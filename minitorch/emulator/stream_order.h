/* stream_order.h -- the order of operations on streams (happens-before): which operation of the device is complete
 * before another one, or host code, begins. An operation is a launch, a copy or a library call.
 *
 * stream_order.c keeps the clocks, always. stream_race.c (TRACE's) records what each operation reads and writes, and
 * reports accesses that no clock orders.
 */
#ifndef EMU_STREAM_ORDER_H
#define EMU_STREAM_ORDER_H

#include "internal.h"

/* A timeline is a stream's: its operations run in order. When there are more streams, some share one: races between
 * these are missed. */
#define EMU_TIMELINES 64
enum { EMU_LEGACY_STREAM, EMU_THREAD_STREAM, EMU_FIRST_STREAM };

/* A time: for each timeline, how many of its operations are complete. */
typedef struct emu_clock {
    uint32_t done[EMU_TIMELINES];
} emu_clock;

typedef struct emu_operation {
    const char *name; /* of the kernel or the call */
    bool kernel;
    bool in_graph; /* a node of a graph */
    bool fenced;   /* the kernel called __threadfence: flags may order it */
    emu_site site; /* of the launch or call */
    int timeline;
    uint32_t time; /* it is complete when clock.done[timeline] >= time */
} emu_operation;

extern emu_operation emu_current_operation; /* the last one that began */
extern bool emu_graph_runs;                 /* operations are a graph's */
extern bool emu_streams_concurrent;         /* are there streams that need not wait for each other? */

int emu_timeline_new(bool blocking); /* of a new stream; blocking: not cudaStreamNonBlocking */
void emu_timeline_end(int timeline);

/* When the next operation of the timeline begins. The clock may be changed: what a stream waits for. */
emu_clock *emu_timeline_clock(int timeline);
void emu_clock_join(emu_clock *clock, const emu_clock *other); /* `clock` is from now on after `other` too */
emu_clock *emu_host_clock(void);                               /* the host's, or in a callback its stream's */
void emu_host_in_stream(int timeline);                         /* a callback begins; -1: has ended */
void emu_host_waits(int timeline);                             /* for its operations so far; -1: for all */

/* emu_operate -- an operation begins on the stream, after what was pending there (pending.c).
 * emu_operate_later -- one that is itself pending is called. */
void emu_operate_later(const void *stream, const char *name, emu_site site);
void emu_operate(const void *stream, bool kernel, const char *name, emu_site site);

/* ---- stream_race.c ---- */
struct emu_tracer;
void emu_stream_race_open(void);
void emu_stream_race_forget(const emu_allocation *allocation);             /* it is new */
void emu_stream_race_launch(struct emu_tracer *const *tracers, int count); /* the running launch ends */
extern bool emu_stream_race_host;                                          /* is there anything to check for: */
void emu_stream_race_host_access(uintptr_t address, size_t size, bool write, bool flag, uintptr_t pc);

#endif
