/* stream.h -- streams and events (stream.c), and their part in a capture (capture.c). */
#ifndef EMU_STREAM_H
#define EMU_STREAM_H

#include "emulator/api/graph.h"

/* A capture: the streams that take part in it know it. */
typedef struct emu_capture {
    struct emu_capture *next; /* that is not yet ended */
    cudaGraph_t graph;
    const struct CUstream_st *origin;
    cudaStreamCaptureMode mode;
    uint64_t number; /* rising, never 0 */
    bool invalid;
} emu_capture;

struct CUstream_st {
    struct CUstream_st *next;
    int timeline;
    unsigned flags;
    int priority;
    emu_capture *capture; /* NULL: it is not captured */
    emu_nodes last;       /* what its next operation comes after, in the capture */
};

struct CUevent_st {
    struct CUevent_st *next;
    long long recorded; /* ns; 0: not yet */
    unsigned flags;
    const void *stream; /* where it was recorded, after what was pending there up to the number `after` */
    uint64_t after;
    emu_clock clock;  /* when all work before it is complete */
    uint64_t capture; /* number of the capture in which it was recorded; 0: in none */
    emu_nodes last;   /* after these of its nodes */
};

bool emu_stream_valid(const void *stream);
int emu_stream_timeline(const void *stream); /* of a valid stream: stream_order.h */
bool emu_stream_blocks(const void *stream);  /* does the default stream wait for it? */

cudaError_t emu_stream_new(cudaStream_t *stream, unsigned flags);
void emu_stream_end(cudaStream_t stream);
struct CUstream_st *emu_stream_next(struct CUstream_st *after); /* NULL: the first */

/* ---- capture.c ---- */
bool emu_capturing(const void *stream);
/* An error if `what` on the stream is not possible because that stream, or one it waits for, is captured. */
cudaError_t emu_not_captured(const void *stream, emu_site site, const char *what);
/* An error while any stream is captured; relaxed_too: also in mode cudaStreamCaptureModeRelaxed. */
cudaError_t emu_unsafe_in_capture(uintptr_t pc, const char *what, bool relaxed_too);
bool emu_capture_launch(const cuemu_launch_config *config, cudaError_t *error); /* false: it is not captured */

/* False: the stream is not captured, nor is the event. */
bool emu_capture_record(cudaStream_t stream, cudaEvent_t event);
bool emu_capture_wait(cudaStream_t stream, cudaEvent_t event, uintptr_t pc, cudaError_t *error);
void emu_capture_drop(cudaStream_t stream); /* it is destroyed */

#endif
