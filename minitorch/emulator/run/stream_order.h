/* stream_order.h -- the order of operations on streams (happens-before): which operation of the device is complete
 * before another one, or host code, begins. An operation is a launch, a copy or a library call.
 *
 * The clocks are kept always. In a traced build check/stream_race.c records what each operation reads and writes, and
 * reports accesses that no clock orders.
 */
#ifndef EMU_STREAM_ORDER_H
#define EMU_STREAM_ORDER_H

#include "emulator/run/findings.h"

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

/* An operation begins on the timeline; it becomes the current one. */
void emu_operation_begin(int timeline, bool kernel, const char *name, emu_site site);

#endif
