/* pending.h -- work that is not done when its call returns (pending.c): operations of NCCL. Under the API's lock. */
#ifndef EMU_PENDING_H
#define EMU_PENDING_H

#include "emulator/api/call.h"

#define EMU_ALL_STREAMS      ((const void *)-1)
#define EMU_BLOCKING_STREAMS ((const void *)-2) /* those that the default stream waits for, and itself */

/* One item of a stream; an operation appends its own fields. free() ends its life. */
typedef struct emu_pending emu_pending;
struct emu_pending {
    emu_pending *next;
    uint64_t number; /* rising */
    const void *stream;
    /* Completes it; false: not possible yet, which with block it waits for. True after a failure too, then *failed. */
    bool (*finish)(emu_pending *p, bool block, bool *failed);
    const char *writes; /* what it writes, and its size; NULL: nothing */
    size_t size;
    const char *name;
    uintptr_t made;    /* the call (pc) */
    const void *which; /* without finish, it waits for what these streams have up to number `until` */
    uint64_t until;
};

/* `which` is a stream's address, EMU_ALL_STREAMS or EMU_BLOCKING_STREAMS. */
bool emu_pending_finish(const void *which, uint64_t until, bool block, bool *failed);
uint64_t emu_pending_last(const void *which); /* the number of the last item; 0: none */

void emu_pending_add(emu_pending *p, const void *stream);
const emu_pending *emu_pending_next(const emu_pending *after); /* NULL: the first */
void emu_pending_forget(bool (*chosen)(const emu_pending *p, const void *of), const void *of);

/* What comes on the stream from now on waits for those items. */
void emu_pending_after(const void *stream, const void *which, uint64_t until);
/* For an event: the number of the last item that it comes after. */
uint64_t emu_pending_mark(const void *stream);

/* What has to be done before work on a stream (NULL: the default one), or on all. */
cudaError_t emu_stream_work(const void *stream);
cudaError_t emu_all_work(void);
/* An error when a call of the host reads what an operation is still to write. */
void emu_undelivered(const void *begin, size_t size, uintptr_t pc, const char *what);

/* emu_operate -- an operation begins on the stream, after what was pending there.
 * emu_operate_later -- one that is itself pending is called. */
void emu_operate_later(const void *stream, const char *name, emu_site site);
void emu_operate(const void *stream, bool kernel, const char *name, emu_site site);

#endif
