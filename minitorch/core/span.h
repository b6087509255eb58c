/* span.h -- marks a piece of code, so that a listener gets its time and the work done in it.
 *
 *     mt_tensor *mt_linear(...)
 *     {
 *         MT_SPAN("linear");                        // from here to the end of this block
 *         mt_count_work(2 * N * I * O, ...);        // done inside it
 *
 * Ops, loaders and collectives mark themselves; prof/recorder.h listens. Without a listener a span costs one load and
 * one branch, and so does a count.
 * Depends on core only. */
#pragma once

#include "core/base.h"
#include "core/device.h"

MT_C_BEGIN

typedef struct mt_span mt_span;
struct mt_span {
    const char *name;     /* a literal; NULL: there was no listener when it began */
    const char *of;       /* a literal, or NULL: "backward" of "linear" */
    mt_span *outer;       /* the span of this thread around it, or NULL */
    int depth;            /* spans around it */
    double begin, end;    /* seconds of mt_now */
    double inner;         /* seconds of them that spans inside it took */
    int64_t flops, bytes; /* counted in it, outside of spans inside it */
    int64_t live[MT_DEVICE_COUNT],
        peak[MT_DEVICE_COUNT]; /* bytes allocated when it began; the most during it, if a listener records it */
};

/* mt_span_listener -- a span ended. Called on the thread that ran it, inner spans before outer ones; several threads
 * may call at once. The span is lent for the call. */
typedef void mt_span_listener(void *user, const mt_span *span);

/* mt_span_listen -- call this listener for every span of every thread; NULL: none. When it is removed while other
 * threads have spans open, it may still be called for those shortly afterwards. */
void mt_span_listen(mt_span_listener *listener, void *user);

/* mt_span_innermost -- the span that is open in this thread, or NULL; lent until it ends. */
mt_span *mt_span_innermost(void);

/* Spans of ranks that train together (dist/replicas.c): the profile says which part of a step is spent waiting. */
#define MT_SPAN_STEP "training step"
#define MT_SPAN_WAIT "wait for communication"

#define MT_SPAN(name)            MT_SPAN_OF(name, NULL)
#define MT_SPAN_OF(name, of)     MT_SPAN_AT(name, of, __LINE__)
#define MT_SPAN_AT(name, of, at) MT_SPAN_NAMED(name, of, at)
#define MT_SPAN_NAMED(name, of, at)                                       \
    mt_span mt_span_##at __attribute__((cleanup(mt_span_close), unused)); \
    mt_span_open(&mt_span_##at, name, of)

/* ---- used by the macros ---- */

extern bool mt_spans_on; /* read and written atomically */
void mt_span_began(mt_span *span, const char *name, const char *of);
void mt_span_ended(mt_span *span);
void mt_span_count(int64_t flops, int64_t bytes);

static inline bool mt_spans_heard(void)
{
    return __builtin_expect(__atomic_load_n(&mt_spans_on, __ATOMIC_RELAXED), 0);
}

static inline void mt_span_open(mt_span *span, const char *name, const char *of)
{
    span->name = NULL;
    if (mt_spans_heard())
        mt_span_began(span, name, of);
}

static inline void mt_span_close(mt_span *span)
{
    if (__builtin_expect(span->name != NULL, 0))
        mt_span_ended(span);
}

/* mt_count_work -- adds to this thread's innermost open span, if there is one: FLOPs (a multiply-add is two; functions
 * such as exp are not counted), and the fewest bytes that can be moved: every input read once, every output written
 * once. */
static inline void mt_count_work(int64_t flops, int64_t bytes)
{
    if (mt_spans_heard())
        mt_span_count(flops, bytes);
}

MT_C_END
