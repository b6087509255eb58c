/* stream.c -- streams and events.
 *
 * All work but that of pending.c is done when a call returns: a stream or event is a valid handle and a place in the
 * order that a GPU would keep (stream_order.c). The address of a destroyed one is never reused, so that a later use of
 * it is recognised.
 */
#include <stdlib.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"

static struct CUstream_st *streams; /* not destroyed */
static struct CUevent_st *events;
static struct CUstream_st *dead_streams; /* never freed, so that their addresses are not reused */
static struct CUevent_st *dead_events;

bool emu_stream_valid(const void *stream)
{
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return true;
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (s == stream)
            return true;
    return false;
}

int emu_stream_timeline(const void *stream)
{
    if (!stream || stream == cudaStreamLegacy)
        return EMU_LEGACY_STREAM;
    return stream == cudaStreamPerThread ? EMU_THREAD_STREAM : ((const struct CUstream_st *)stream)->timeline;
}

bool emu_stream_blocks(const void *stream)
{
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           !(((const struct CUstream_st *)stream)->flags & cudaStreamNonBlocking);
}

static bool event_valid(cudaEvent_t event)
{
    for (const struct CUevent_st *e = events; e; e = e->next)
        if (e == event)
            return true;
    return false;
}

static cudaError_t no_stream(uintptr_t pc, const char *what)
{
    return emu_misuse(cudaErrorInvalidResourceHandle, pc, "%s: the stream does not exist (was it destroyed?)", what);
}

static cudaError_t no_event(uintptr_t pc, const char *what)
{
    return emu_misuse(cudaErrorInvalidResourceHandle, pc, "%s: the event does not exist (was it destroyed?)", what);
}

cudaError_t emu_stream_new(cudaStream_t *stream, unsigned flags)
{
    if (!stream)
        return cudaErrorInvalidValue;
    struct CUstream_st *s = calloc(1, sizeof *s);
    if (!s)
        return cudaErrorMemoryAllocation;
    s->flags = flags;
    s->timeline = emu_timeline_new(!(flags & cudaStreamNonBlocking));
    s->next = streams;
    streams = s;
    *stream = s;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    API_BEGIN();
    API_END(emu_stream_new(stream, cudaStreamDefault));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    API_BEGIN();
    API_END(flags <= cudaStreamNonBlocking ? emu_stream_new(stream, flags) : cudaErrorInvalidValue);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    API_BEGIN();
    cudaError_t error = flags <= cudaStreamNonBlocking ? emu_stream_new(stream, flags) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        (*stream)->priority = priority;
    API_END(error);
}

static bool made(cudaStream_t stream)
{
    return stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    API_BEGIN();
    if (!emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    *flags = made(stream) ? stream->flags : cudaStreamDefault;
    API_END(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    API_BEGIN();
    if (!emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    *priority = made(stream) ? stream->priority : 0;
    API_END(cudaSuccess);
}

struct CUstream_st *emu_stream_next(struct CUstream_st *after)
{
    return after ? after->next : streams;
}

void emu_stream_end(cudaStream_t stream)
{
    struct CUstream_st **link = &streams;
    while (*link != stream)
        link = &(*link)->next;
    emu_capture_drop(stream);
    *link = stream->next;
    emu_timeline_end(stream->timeline);
    stream->next = dead_streams;
    dead_streams = stream;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    API_BEGIN();
    if (!made(stream) || !emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    emu_stream_work(stream);
    emu_stream_end(stream);
    API_END(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    API_BEGIN();
    if (!emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    cudaError_t error = emu_not_captured(stream, EMU_HERE, __func__);
    if (error != cudaSuccess)
        API_END(error);
    error = emu_stream_work(stream);
    emu_host_waits(emu_stream_timeline(stream));
    API_END(error);
}

/* Whether what was pending on a stream up to this number is done now; it does not wait. */
static bool is_done(const void *stream, uint64_t until)
{
    bool failed = false; /* an error of an operation is that of its communicator */
    return until == 0 || emu_pending_finish(stream, until, false, &failed);
}

/* Other work is complete: a program that asks need not wait. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    API_BEGIN();
    if (!emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    cudaError_t error = emu_not_captured(stream, EMU_HERE, __func__);
    if (error != cudaSuccess)
        API_END(error);
    if (!is_done(stream == cudaStreamLegacy ? NULL : stream, emu_pending_mark(stream)))
        API_END(cudaErrorNotReady);
    emu_host_waits(emu_stream_timeline(stream));
    API_END(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    API_BEGIN();
    (void)flags;
    if (!emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    if (!event_valid(event))
        API_END(no_event(HERE, __func__));
    cudaError_t error;
    if (emu_capture_wait(stream, event, HERE, &error))
        API_END(error);
    emu_pending_after(stream, event->stream, event->after);
    emu_clock_join(emu_timeline_clock(emu_stream_timeline(stream)), &event->clock);
    API_END(cudaSuccess);
}

static cudaError_t event_new(cudaEvent_t *event, unsigned flags)
{
    if (!event || flags > 7)
        return cudaErrorInvalidValue;
    struct CUevent_st *e = calloc(1, sizeof *e);
    if (!e)
        return cudaErrorMemoryAllocation;
    e->flags = flags;
    e->next = events;
    events = e;
    *event = e;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    API_BEGIN();
    API_END(event_new(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    API_BEGIN();
    API_END(event_new(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    API_BEGIN();
    struct CUevent_st **link = &events;
    while (*link && *link != event)
        link = &(*link)->next;
    if (!*link)
        API_END(no_event(HERE, __func__));
    *link = event->next;
    event->next = dead_events;
    dead_events = event;
    API_END(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    API_BEGIN();
    if (!event_valid(event))
        API_END(no_event(HERE, __func__));
    if (!emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    event->recorded = 0;
    if (emu_capture_record(stream, event))
        API_END(cudaSuccess);
    event->recorded = cuemu_clock();
    event->stream = stream == cudaStreamLegacy ? NULL : stream;
    event->after = emu_pending_mark(stream);
    event->clock = *emu_timeline_clock(emu_stream_timeline(stream));
    API_END(cudaSuccess);
}

static cudaError_t host_waits_for(cudaEvent_t event, uintptr_t pc, const char *what)
{
    if (!event_valid(event))
        return no_event(pc, what);
    if (event->capture)
        return emu_misuse(cudaErrorCapturedEvent, pc,
                          "%s: the event was recorded in a capture, where it stands for nodes of a graph\n"
                          "hint: record it behind cudaGraphLaunch, or wait for the stream",
                          what);
    emu_clock_join(emu_host_clock(), &event->clock);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    API_BEGIN();
    if (event_valid(event) && !event->capture && !is_done(event->stream, event->after))
        API_END(cudaErrorNotReady);
    API_END(host_waits_for(event, HERE, __func__));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    API_BEGIN();
    bool failed = false;
    if (event_valid(event) && !event->capture && event->after)
        emu_pending_finish(event->stream, event->after, true, &failed);
    cudaError_t error = host_waits_for(event, HERE, __func__);
    API_END(failed ? cudaErrorLaunchTimeout : error);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    API_BEGIN();
    if (!event_valid(start) || !event_valid(end))
        API_END(no_event(HERE, __func__));
    if ((start->flags | end->flags) & cudaEventDisableTiming)
        API_END(
            emu_misuse(cudaErrorInvalidResourceHandle, HERE, "cudaEventElapsedTime: an event was made without timing"));
    if (!start->recorded || !end->recorded)
        API_END(emu_misuse(cudaErrorInvalidResourceHandle, HERE, "cudaEventElapsedTime: an event was never recorded"));
    *milliseconds = (float)((double)(end->recorded - start->recorded) * 1e-6);
    API_END(cudaSuccess);
}

/* ---- host functions: called immediately, or captured ------------------------------------------------------------ */

static cudaError_t check_stream(cudaStream_t stream, uintptr_t pc, const char *what)
{
    API_BEGIN();
    API_END(emu_stream_valid(stream) ? emu_stream_work(stream) : no_stream(pc, what));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
    (void)flags;
    cudaError_t error = check_stream(stream, HERE, __func__);
    error = error == cudaSuccess ? emu_not_captured(stream, EMU_HERE, __func__) : error;
    if (error == cudaSuccess) {
        emu_host_in_stream(emu_stream_timeline(stream));
        callback(stream, cudaSuccess, data);
        emu_host_in_stream(-1);
    }
    return error;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    cudaError_t error = check_stream(stream, HERE, __func__);
    if (error != cudaSuccess)
        return error;
    cudaGraphNode_t node = emu_capture_node(stream, cudaGraphNodeTypeHost, (emu_site){ .pc = HERE }, __func__, &error);
    if (node) {
        node->host = (cudaHostNodeParams){ function, data };
    } else if (error == cudaSuccess) {
        emu_host_in_stream(emu_stream_timeline(stream));
        function(data);
        emu_host_in_stream(-1);
    }
    return error;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t size, unsigned flags)
{
    (void)pointer, (void)size, (void)flags;
    cudaError_t error = check_stream(stream, HERE, __func__);
    return error != cudaSuccess ? error : emu_not_captured(stream, EMU_HERE, __func__);
}
