/* barrier.c -- __syncthreads and its variants that vote.
 *
 * A barrier is complete when every thread of the block that has not returned waits at one. A GPU only counts arrivals;
 * CUDA's rule is stricter: all threads must reach the same call. So a barrier is identified by its source line. Threads
 * that wait at different lines are reported with their lines, and threads that returned before the barrier are
 * reported too. Then the block continues, as it would on a GPU.
 */
#include <stdio.h>
#include <string.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"
#include "emulator/run/setting.h"

void emu_barrier_begin_block(emu_worker *worker)
{
    emu_scheduler *s = worker->scheduler;
    s->at_barrier = s->count = 0;
    s->all = true;
    s->any = s->divergent = false;
}

static bool same_place(const emu_thread *a, const emu_thread *b)
{
    return a->wait.line == b->wait.line && (a->wait.file == b->wait.file || !strcmp(a->wait.file, b->wait.file));
}

static void arrive(emu_thread *self, uintptr_t pc, const char *file, int line, int value)
{
    emu_worker *worker = self->warp->worker;
    emu_scheduler *s = worker->scheduler;
    self->wait.pc = pc;
    self->wait.file = file;
    self->wait.line = line;
    s->count += value != 0;
    s->all &= value != 0;
    s->any |= value != 0;
    if (!s->at_barrier++)
        s->first_at_barrier = self;
    else if (EMU_UNLIKELY(!same_place(self, s->first_at_barrier)))
        s->divergent = true;
    emu_wait(self, EMU_AT_BARRIER);
}

void cuemu_barrier(const char *file, int line)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    arrive(emu_device_only("__syncthreads", pc), pc, file, line, 0);
}

int cuemu_barrier_vote(const char *file, int line, enum cuemu_vote vote, int value)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    emu_thread *self = emu_device_only("__syncthreads_count", pc);
    arrive(self, pc, file, line, value);
    return self->warp->worker->scheduler->vote_result[vote];
}

static bool alive(const emu_thread *thread)
{
    return thread->warp->alive >> thread->lane & 1;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* In a function of a header, the line is the header's; the pc identifies the caller. */
static emu_site barrier_of(const emu_thread *thread)
{
    return (emu_site){ .pc = thread->wait.pc, .file = thread->wait.file, .line = thread->wait.line };
}

/* "threads 0-19 wait at unit.cu:14, threads 20-63 at unit.cu:17" */
static void report_divergent(emu_worker *worker)
{
    enum { MOST_PARTS = 6 };
    char text[512] = "";
    size_t used = 0;
    int parts = 0;
    for (int i = 0; i < worker->thread_count && used < sizeof text;) {
        const emu_thread *first = &worker->threads[i++];
        if (!alive(first))
            continue;
        while (i < worker->thread_count && alive(&worker->threads[i]) && same_place(first, &worker->threads[i]))
            i++;
        if (parts++ == MOST_PARTS) {
            snprintf(text + used, sizeof text - used, ", ...");
            break;
        }
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%sthreads %d-%d wait at %s:%d", parts > 1 ? ", " : "",
                             first->rank, i - 1, base_name(first->wait.file), first->wait.line);
    }
    const emu_thread *first = worker->scheduler->first_at_barrier;
    emu_error_of(first, EMU_SYNC, barrier_of(first),
                 "divergent __syncthreads(): the block's threads meet at different barriers\n%s", text);
}

static void report_missing(emu_worker *worker)
{
    const emu_thread *first = worker->scheduler->first_at_barrier, *gone = NULL;
    int missing = 0;
    for (int i = 0; i < worker->thread_count; i++) {
        if (alive(&worker->threads[i]))
            continue;
        gone = gone ? gone : &worker->threads[i];
        missing++;
    }
    bool (*tell)(const emu_thread *, emu_kind, emu_site, const char *, ...) =
        emu_setting("CUEMU_STRICT", 0) ? emu_error_of : emu_warning_of;
    tell(first, EMU_SYNC, barrier_of(first),
         "__syncthreads() is not reached by %d of %d threads, which have returned; the first is (%u,%u,%u)\n"
         "hint: a divergent barrier: all threads of the block must reach it, so it must not be inside an if or after a "
         "return (today's GPUs wait for the remaining threads, but do not rely on it)",
         missing, worker->thread_count, gone->index.x, gone->index.y, gone->index.z);
}

/* All live threads have arrived: releases them. */
void emu_barrier_release(emu_worker *worker)
{
    emu_scheduler *s = worker->scheduler;
    int alive_count = 0;
    for (int i = 0; i < worker->warp_count; i++)
        alive_count += __builtin_popcount(worker->warps[i].alive);
    if (EMU_UNLIKELY(s->divergent))
        report_divergent(worker);
    if (EMU_UNLIKELY(alive_count < worker->thread_count))
        report_missing(worker);
    EMU_CALL(barrier, worker);
    worker->interval++;
    s->vote_result[CUEMU_COUNT] = s->count;
    s->vote_result[CUEMU_AND] = s->all;
    s->vote_result[CUEMU_OR] = s->any;
    emu_barrier_begin_block(worker);
    for (int i = 0; i < worker->warp_count; i++) {
        emu_warp *warp = &worker->warps[i];
        warp->in[EMU_READY] = warp->in[EMU_AT_BARRIER];
        warp->in[EMU_AT_BARRIER] = 0;
    }
}
