/* capture.c -- capture of streams: what is issued on a captured stream becomes a node of a graph and is not executed.
 *
 * A stream's next node comes after the stream's last one. An event that is recorded in a captured stream stands for
 * these nodes; a stream that waits for it takes part in the capture from then on. All of the nodes must be joined to
 * the first stream when the capture ends there. Calls that CUDA does not allow meanwhile make the capture invalid.
 */
#include <stdlib.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"

static emu_capture *captures;
static uint64_t numbers;

static struct CUstream_st *captured(const void *stream)
{
    struct CUstream_st *s = (struct CUstream_st *)(uintptr_t)stream;
    return !s || s == cudaStreamLegacy || s == cudaStreamPerThread || !s->capture ? NULL : s;
}

bool emu_capturing(const void *stream)
{
    return captures && captured(stream);
}

/* The capture fails, and with it all further calls in it. */
static cudaError_t spoil(emu_capture *capture, cudaError_t error)
{
    capture->invalid = true;
    return error;
}

cudaError_t emu_not_captured(const void *stream, emu_site site, const char *what)
{
    if (!captures)
        return cudaSuccess;
    struct CUstream_st *s = captured(stream);
    if (s && s->capture->invalid)
        return emu_fail(cudaErrorStreamCaptureInvalidated);
    if (s)
        return spoil(s->capture, emu_misuse_at(cudaErrorStreamCaptureUnsupported, site,
                                               "%s: it cannot be captured into a graph\n"
                                               "hint: call it before the capture begins, or after it ends",
                                               what));
    for (s = emu_stream_next(NULL); s && (!stream || stream == cudaStreamLegacy); s = emu_stream_next(s))
        if (s->capture && !(s->flags & cudaStreamNonBlocking))
            return spoil(s->capture,
                         emu_misuse_at(cudaErrorStreamCaptureImplicit, site,
                                       "%s: the default stream would wait for a stream that is being captured\n"
                                       "hint: use the captured stream, or make that with cudaStreamNonBlocking",
                                       what));
    return cudaSuccess;
}

cudaError_t emu_unsafe_in_capture(uintptr_t pc, const char *what, bool relaxed_too)
{
    for (emu_capture *c = captures; c; c = c->next)
        if (relaxed_too || c->mode != cudaStreamCaptureModeRelaxed)
            return spoil(c, emu_misuse(cudaErrorStreamCaptureUnsupported, pc,
                                       "%s: not allowed while a stream is being captured\n"
                                       "hint: call it before cudaStreamBeginCapture or after cudaStreamEndCapture",
                                       what));
    return cudaSuccess;
}

static void join(struct CUstream_st *stream, emu_capture *capture, const emu_nodes *after)
{
    stream->capture = capture;
    for (int i = 0; i < after->count; i++)
        emu_nodes_add(&stream->last, after->at[i]);
}

static void leave(struct CUstream_st *stream)
{
    free(stream->last.at);
    stream->last = (emu_nodes){ 0 };
    stream->capture = NULL;
}

cudaGraphNode_t emu_capture_node(const void *stream, cudaGraphNodeType type, emu_site site, const char *what,
                                 cudaError_t *error)
{
    struct CUstream_st *s = captures ? captured(stream) : NULL;
    *error = cudaSuccess;
    if (!s || s->capture->invalid) {
        *error = emu_not_captured(stream, site, what);
        return NULL;
    }
    cudaGraphNode_t node = emu_node_new(s->capture->graph, type, site, &s->last);
    s->last.count = 0;
    emu_nodes_add(&s->last, node);
    return node;
}

bool emu_capture_launch(const cuemu_launch_config *config, cudaError_t *error)
{
    emu_site site = { .file = config->file, .line = config->line };
    cudaGraphNode_t node = emu_capture_node(config->stream, cudaGraphNodeTypeKernel, site, config->kernel, error);
    if (node)
        emu_node_set_kernel(node, config, config->kind->copy(config->args));
    return node || *error != cudaSuccess;
}

bool emu_capture_record(cudaStream_t stream, cudaEvent_t event)
{
    const struct CUstream_st *s = captures ? captured(stream) : NULL;
    event->capture = s ? s->capture->number : 0;
    event->last.count = 0;
    for (int i = 0; s && i < s->last.count; i++)
        emu_nodes_add(&event->last, s->last.at[i]);
    return s;
}

bool emu_capture_wait(cudaStream_t stream, cudaEvent_t event, uintptr_t pc, cudaError_t *error)
{
    struct CUstream_st *s = captures ? captured(stream) : NULL;
    emu_capture *c = captures;
    *error = cudaSuccess;
    while (c && c->number != event->capture)
        c = c->next;
    if (!c && !s)
        return false;
    if (!c)
        *error = spoil(s->capture, emu_misuse(cudaErrorStreamCaptureIsolation, pc,
                                              "cudaStreamWaitEvent: a captured stream cannot wait for an event that "
                                              "was recorded outside of the capture\n"
                                              "hint: record the event in a captured stream, or wait before the capture "
                                              "begins"));
    else if (s && s->capture != c)
        *error = spoil(c, emu_misuse(cudaErrorStreamCaptureMerge, pc,
                                     "cudaStreamWaitEvent: the event belongs to another capture than the stream"));
    else if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        *error = spoil(c, emu_misuse(cudaErrorStreamCaptureImplicit, pc,
                                     "cudaStreamWaitEvent: the default stream cannot take part in a capture\n"
                                     "hint: use a stream of cudaStreamCreate"));
    else
        join(stream, c, &event->last);
    return true;
}

void emu_capture_drop(cudaStream_t stream)
{
    if (!stream->capture)
        return;
    if (stream->capture->origin == stream)
        stream->capture->invalid = true;
    leave(stream);
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static cudaError_t check(cudaStream_t stream, uintptr_t pc, const char *what)
{
    if (!emu_stream_valid(stream))
        return emu_misuse(cudaErrorInvalidResourceHandle, pc, "%s: the stream does not exist (was it destroyed?)",
                          what);
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return emu_misuse(cudaErrorStreamCaptureUnsupported, pc,
                          "%s: the default stream cannot be captured\nhint: capture a stream of cudaStreamCreate",
                          what);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    API_BEGIN();
    cudaError_t error = check(stream, HERE, __func__);
    if (error == cudaSuccess && (unsigned)mode > cudaStreamCaptureModeRelaxed)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && stream->capture)
        error = spoil(stream->capture, emu_misuse(cudaErrorIllegalState, HERE,
                                                  "cudaStreamBeginCapture: the stream is being captured already"));
    if (error != cudaSuccess)
        API_END(error);
    emu_stream_work(stream);
    emu_capture *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    *c = (emu_capture){ .next = captures, .graph = emu_graph_new(), .origin = stream, .mode = mode };
    c->graph->dead = true; /* not yet the program's */
    c->number = ++numbers;
    captures = c;
    stream->capture = c;
    API_END(cudaSuccess);
}

/* A node that the first stream's last ones do not come after; NULL: all is joined. */
static const struct CUgraphNode_st *unjoined(const emu_capture *c)
{
    const emu_nodes *all = &c->graph->nodes;
    bool *reached = calloc((size_t)all->count + 1, sizeof *reached);
    const struct CUgraphNode_st *left = NULL;
    if (!reached)
        abort();
    for (int i = all->count; i-- > 0;) { /* captured nodes come after earlier ones */
        for (int k = 0; k < c->origin->last.count; k++)
            reached[i] |= c->origin->last.at[k] == all->at[i];
        if (!reached[i])
            left = all->at[i];
        for (int k = 0; reached[i] && k < all->at[i]->after.count; k++)
            reached[all->at[i]->after.at[k]->place] = true;
    }
    free(reached);
    return left;
}

static cudaError_t finish(const emu_capture *c, uintptr_t pc)
{
    const char *file = "?";
    int line = 0;
    if (c->invalid)
        return emu_fail(cudaErrorStreamCaptureInvalidated);
    const struct CUgraphNode_st *left = unjoined(c);
    if (!left)
        return cudaSuccess;
    if (left->site.file)
        file = left->site.file, line = left->site.line;
    else
        emu_source(left->site.pc, &file, &line);
    return emu_misuse(cudaErrorStreamCaptureUnjoined, pc,
                      "cudaStreamEndCapture: the stream does not wait for work of other streams in its capture, such "
                      "as that of %s:%d\nhint: record an event behind that work, and let the first stream wait for it "
                      "with cudaStreamWaitEvent before the capture ends",
                      file, line);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    API_BEGIN();
    cudaError_t error = check(stream, HERE, __func__);
    if (error != cudaSuccess || !graph)
        API_END(error != cudaSuccess ? error : cudaErrorInvalidValue);
    *graph = NULL;
    emu_capture *c = stream->capture;
    if (!c)
        API_END(emu_misuse(cudaErrorIllegalState, HERE, "cudaStreamEndCapture: the stream is not being captured"));
    if (c->origin != stream)
        API_END(spoil(c, emu_misuse(cudaErrorStreamCaptureUnmatched, HERE,
                                    "cudaStreamEndCapture: the capture began in another stream: end it there")));
    error = finish(c, HERE);
    if (error == cudaSuccess)
        *graph = c->graph, c->graph->dead = false;
    else
        emu_graph_end(c->graph);
    for (struct CUstream_st *s = emu_stream_next(NULL); s; s = emu_stream_next(s))
        if (s->capture == c)
            leave(s);
    emu_capture **link = &captures;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    free(c);
    API_END(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    API_BEGIN();
    if (!emu_stream_valid(stream) || !status)
        API_END(cudaErrorInvalidValue);
    const struct CUstream_st *s = captured(stream);
    *status = !s                    ? cudaStreamCaptureStatusNone
              : s->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
    API_END(cudaSuccess);
}
