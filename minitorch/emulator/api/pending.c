/* pending.c -- work that is not done when its call returns: the operations of NCCL. All other work is.
 *
 * An operation waits for other ranks, so it cannot be done at once; and it is completed as late as CUDA allows: when
 * later work on its stream, or the host, has to wait for it. So a program that reads a result without waiting reads
 * what was there before. Each stream's operations are completed in order. A stream that waits for an event has an item,
 * too: what was pending before the event.
 *
 * The default stream and the blocking ones wait for each other, as in CUDA: work on one comes after what was pending on
 * the other.
 */
#include <stdlib.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"

static emu_pending *first; /* in order of their numbers */
static uint64_t numbers;

/* The default stream has several names. */
static const void *name_of(const void *stream)
{
    return stream == cudaStreamLegacy ? NULL : stream;
}

static bool is_of(const emu_pending *p, const void *which)
{
    return which == EMU_ALL_STREAMS || p->stream == which ||
           (which == EMU_BLOCKING_STREAMS && emu_stream_blocks(p->stream));
}

uint64_t emu_pending_last(const void *which)
{
    uint64_t last = 0;
    for (const emu_pending *p = first; p; p = p->next)
        if (is_of(p, which == EMU_ALL_STREAMS ? which : name_of(which)))
            last = p->number;
    return last;
}

const emu_pending *emu_pending_next(const emu_pending *after)
{
    return after ? after->next : first;
}

static void append(emu_pending *p, const void *stream)
{
    emu_pending **end = &first;
    while (*end)
        end = &(*end)->next;
    p->next = NULL;
    p->stream = name_of(stream);
    p->number = ++numbers;
    *end = p;
}

void emu_pending_after(const void *stream, const void *which, uint64_t until)
{
    uint64_t last = 0;
    stream = name_of(stream);
    for (const emu_pending *p = first; p && p->number <= until; p = p->next)
        if (p->stream != stream && is_of(p, which))
            last = p->number;
    for (const emu_pending *p = first; p && last; p = p->next)
        if (p->stream == stream && !p->finish && p->which == which && p->until >= last)
            last = 0; /* it waits already */
    if (!last)
        return;
    emu_pending *wait = calloc(1, sizeof *wait);
    if (!wait)
        abort();
    wait->which = which;
    wait->until = last;
    append(wait, stream);
}

/* What the stream's next work has to wait for besides its own. */
static void order(const void *stream)
{
    stream = name_of(stream);
    if (!stream)
        emu_pending_after(stream, EMU_BLOCKING_STREAMS, numbers);
    else if (emu_stream_blocks(stream))
        emu_pending_after(stream, NULL, numbers);
}

void emu_pending_add(emu_pending *p, const void *stream)
{
    order(stream);
    append(p, stream);
}

void emu_undelivered(const void *begin, size_t size, uintptr_t pc, const char *what)
{
    const char *file = "?", *from = begin;
    int line = 0;
    for (const emu_pending *p = first; p; p = p->next) {
        if (!p->writes || from >= p->writes + p->size || p->writes >= from + size)
            continue;
        emu_source(p->made, &file, &line);
        emu_error(EMU_RACE, (emu_site){ .pc = pc },
                  "%s reads what %s (%s:%d) is still to write, on a stream that nothing has waited for\n"
                  "hint: synchronise with that stream, or record an event there and let this stream wait for it",
                  what, p->name, file, line);
        return;
    }
}

static void drop(emu_pending *p)
{
    emu_pending **at = &first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p);
}

bool emu_pending_finish(const void *which, uint64_t until, bool block, bool *failed)
{
    for (;;) {
        emu_pending *p = first;
        while (p && !(p->number <= until && is_of(p, which)))
            p = p->next;
        if (!p)
            return true;
        if (p->finish ? !p->finish(p, block, failed) : !emu_pending_finish(p->which, p->until, block, failed))
            return false;
        drop(p);
    }
}

static cudaError_t finish(const void *which)
{
    bool failed = false;
    emu_pending_finish(which, numbers, true, &failed);
    return failed ? cudaErrorLaunchTimeout : cudaSuccess;
}

cudaError_t emu_stream_work(const void *stream)
{
    if (!first)
        return cudaSuccess;
    order(stream);
    return finish(name_of(stream));
}

cudaError_t emu_all_work(void)
{
    return first ? finish(EMU_ALL_STREAMS) : cudaSuccess;
}

void emu_operate_later(const void *stream, const char *name, emu_site site)
{
    emu_operation_begin(emu_stream_timeline(stream), false, name, site);
}

void emu_operate(const void *stream, bool kernel, const char *name, emu_site site)
{
    emu_stream_work(stream);
    emu_operation_begin(emu_stream_timeline(stream), kernel, name, site);
}

uint64_t emu_pending_mark(const void *stream)
{
    if (first)
        order(stream);
    return emu_pending_last(stream);
}

void emu_pending_forget(bool (*chosen)(const emu_pending *p, const void *of), const void *of)
{
    for (emu_pending *p = first, *next; p; p = next) {
        next = p->next;
        if (chosen(p, of))
            drop(p);
    }
}
