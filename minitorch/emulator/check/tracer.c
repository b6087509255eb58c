/* tracer.c -- a worker's tracer: created at its first block, cleared at each launch, added to the totals after it.
 *
 * None of this runs in a program without traced device code: the compiler calls __tsan_init where there is some.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "emulator/check/order.h"
#include "emulator/check/race.h"
#include "emulator/check/shadow.h"
#include "emulator/check/stream_race.h"
#include "emulator/run/hooks.h"
#include "emulator/run/setting.h"
#include "emulator/run/shared.h"

#define MOST_TRACERS 64
/* A lane's buffer is small enough for all 32 to stay in the second-level cache. */
#define LANE_RECORDS 1024
#define LANE_STRIDE  (LANE_RECORDS + 20) /* lanes start at different cache sets */

__thread emu_tracer *emu_tracing;

static emu_tracer *tracers[MOST_TRACERS];
static bool traced_code;

void __tsan_init(void);
void __tsan_init(void)
{
    traced_code = true;
}

/* Zeroed memory; a page is allocated when it is first touched. */
static void *reserve(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "cuemu: no memory for tracing: set CUEMU_MEMORY (MB of device memory) to a smaller number\n");
        exit(2);
    }
    return p;
}

static emu_tracer *tracer_new(void)
{
    emu_tracer *t = reserve(sizeof *t);
    size_t pages = (emu_positions() >> EMU_PAGE_SHIFT) + 1;
    t->races = !emu_setting("CUEMU_NORACE", 0);
    t->pages.live = reserve(pages * sizeof(emu_cell *));
    t->pages.owned = reserve(pages * sizeof(emu_cell *));
    t->met = reserve(sizeof t->met[0] * EMU_MAX_WARPS);
    t->buffers = reserve(EMU_WARP_SIZE * LANE_STRIDE * sizeof(emu_record));
    t->tally.sites = emu_sites_new();
    t->tally.parts = emu_parts_new();
    t->launch_tag = 1;
    return t;
}

static void clear(emu_tracer *t)
{
    for (size_t i = 0; i < t->pages.count; i++)
        t->pages.live[t->pages.list[i]] = NULL;
    t->pages.count = 0;
    t->launch_tag = t->tag + 1;
    t->turn_count = 0;
    t->reported_count = 0;
    t->instrumented = t->fenced = false;
    emu_sites_clear(t->tally.sites);
    memset(&t->tally.totals, 0, sizeof t->tally.totals);
}

static void launch_begin(emu_launch *launch)
{
    (void)launch;
    for (int i = 0; i < MOST_TRACERS; i++)
        if (tracers[i])
            clear(tracers[i]);
}

/* The worker's tracer, with the state of its block. */
static emu_tracer *enter(emu_worker *worker)
{
    struct emu_block_state *own = worker->trace;
    if (!own) {
        own = worker->trace = reserve(sizeof *own);
        own->shared_state = reserve(EMU_SHARED_SPAN);
        own->shared_cells = reserve(EMU_SHARED_SPAN / 4 * sizeof(emu_cell));
        own->paths = reserve(EMU_MAX_THREADS * (EMU_DEPTH_MOST + 1) * sizeof *own->paths);
    }
    if (!tracers[worker->index])
        tracers[worker->index] = tracer_new();
    emu_tracer *t = tracers[worker->index];
    if (t->own)
        memcpy(t->own->shared_used, t->shared_used, sizeof t->shared_used);
    memcpy(t->shared_used, own->shared_used, sizeof t->shared_used);
    t->own = own;
    t->worker = worker;
    t->shared_state = own->shared_state;
    t->shared_cells = own->shared_cells;
    return t;
}

static void block_begin(emu_worker *worker)
{
    if (!worker->sampled)
        return;
    emu_tracer *t = enter(worker);
    t->tally.totals.sampled_blocks++;
    t->tally.block_bytes = 0;
    for (int i = 0; i < worker->thread_count; i++) {
        emu_thread *thread = &worker->threads[i];
        thread->trace.begin = thread->trace.next = t->buffers + thread->lane * LANE_STRIDE;
        thread->trace.end = thread->trace.begin + LANE_RECORDS;
        thread->trace.depth = thread->trace.path = thread->trace.beyond = 0;
        thread->trace.paths = t->own->paths + i * (EMU_DEPTH_MOST + 1);
    }
    emu_shadow_begin_block(t);
    emu_race_begin_block(t);
    emu_tracing = t;
}

static void settle(emu_tracer *t)
{
    if (t->pending.cells)
        emu_race_settle(t);
    if (t->suspect_count)
        emu_race_report_suspects(t);
}

static void block_end(emu_worker *worker)
{
    (void)worker;
    if (emu_tracing)
        settle(emu_tracing);
    emu_tracing = NULL;
}

static void block_resume(emu_worker *worker)
{
    if (!worker->sampled)
        return;
    emu_tracing = enter(worker);
    emu_race_begin_block(emu_tracing);
}

/* Accesses before the barrier race with none after it. */
static void grid_barrier(void)
{
    emu_tracer *t = tracers[EMU_COOPERATIVE];
    if (!t)
        return;
    emu_stream_race_launch(&t, 1);
    t->launch_tag = t->tag + 1;
}

static void barrier(emu_worker *worker)
{
    (void)worker;
    if (!emu_tracing)
        return;
    settle(emu_tracing);
    emu_order_next_interval(emu_tracing);
    emu_tracing->tally.totals.barriers++;
}

static void meet(emu_warp *warp, uint32_t lanes)
{
    if (emu_tracing)
        emu_order_meet(emu_tracing, warp, lanes);
}

static void pause_warp(emu_warp *warp)
{
    if (emu_tracing)
        emu_merge(&emu_tracing->tally, warp);
}

static void fence(int scope)
{
    if (!emu_tracing)
        return;
    emu_order_fence(emu_tracing);
    if (scope > 0)
        emu_order_block_fence(emu_tracing);
}

static void constant_load(const void *address, size_t size, uintptr_t pc)
{
    if (emu_tracing && emu_tracing->races)
        emu_race_constant_load(emu_tracing, (uintptr_t)address, size, pc);
}

static void launch_end(emu_launch *launch)
{
    emu_tracer *took_part[MOST_TRACERS];
    emu_tally *tallies[MOST_TRACERS];
    int count = 0;
    bool instrumented = false;
    uint64_t sampled = 0;
    for (int i = 0; i < MOST_TRACERS; i++) {
        emu_tracer *t = tracers[i];
        if (!t || !t->turn_count)
            continue;
        tallies[count] = &t->tally;
        took_part[count++] = t;
        instrumented |= t->instrumented;
        sampled += t->tally.totals.sampled_blocks;
    }
    if (!instrumented || sampled < launch->block_count)
        emu_writes_unseen = true;
    emu_race_between_workers(took_part, count);
    emu_stream_race_launch(took_part, count);
    emu_counts_finish(launch, tallies, count);
}

__attribute__((constructor(110))) static void install(void)
{
    if (!traced_code)
        return;
    emu_shadow_open();
    emu_hook.launch_begin = launch_begin;
    emu_hook.launch_end = launch_end;
    emu_hook.block_begin = block_begin;
    emu_hook.block_end = block_end;
    emu_hook.block_resume = block_resume;
    emu_hook.grid_barrier = grid_barrier;
    emu_hook.barrier = barrier;
    emu_hook.meet = meet;
    emu_hook.pause = pause_warp;
    emu_hook.atomic = emu_trace_atomic;
    emu_hook.access = emu_trace_access;
    emu_hook.constant_load = constant_load;
    emu_hook.fence = fence;
}
