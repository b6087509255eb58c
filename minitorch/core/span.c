/* span.c -- the listener, and the chain of open spans of each thread; see span.h. */
#include "core/span.h"
#include "core/storage.h"

#include <stdatomic.h>

bool mt_spans_on;
static mt_span_listener *_Atomic listener;
static void *_Atomic listener_user;
static _Thread_local mt_span *innermost;

void mt_span_listen(mt_span_listener *wanted, void *user)
{
    atomic_store(&listener, NULL);
    atomic_store(&listener_user, user);
    atomic_store(&listener, wanted);
    __atomic_store_n(&mt_spans_on, wanted != NULL, __ATOMIC_RELAXED);
}

mt_span *mt_span_innermost(void)
{
    return innermost;
}

void mt_span_began(mt_span *span, const char *name, const char *of)
{
    *span = (mt_span){ .name = name, .of = of, .outer = innermost, .depth = innermost ? innermost->depth + 1 : 0 };
    for (int device = 0; device < MT_DEVICE_COUNT; device++)
        span->live[device] = span->peak[device] = mt_live_bytes((mt_device)device);
    innermost = span;
    span->begin = mt_now(); /* last: the lines above do not count */
}

/* The span leaves the chain even when the listener was removed while it was open. */
void mt_span_ended(mt_span *span)
{
    span->end = mt_now();
    mt_span *outer = innermost = span->outer;
    if (outer) {
        outer->inner += span->end - span->begin;
        for (int device = 0; device < MT_DEVICE_COUNT; device++)
            outer->peak[device] = mt_max(outer->peak[device], span->peak[device]);
    }
    mt_span_listener *call = atomic_load(&listener);
    if (call)
        call(atomic_load(&listener_user), span);
}

void mt_span_count(int64_t flops, int64_t bytes)
{
    if (!innermost)
        return;
    innermost->flops += flops;
    innermost->bytes += bytes;
}
