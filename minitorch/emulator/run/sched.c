/* sched.c -- which thread of the block runs next.
 *
 * Threads run until they wait. A thread that waits or returns switches directly to the next ready lane of its warp;
 * only the last one switches to the worker's own stack (emu_run_block), so a barrier costs one switch per thread. When
 * a thread returns and the next one has not started, there is no switch: the next one runs on the same stack. Warps and
 * lanes run in ascending order, with CUEMU_REVERSE=1 in descending order: a kernel whose result depends on it has a
 * race.
 */
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"
#include "emulator/run/shared.h"
#include "emulator/run/workers.h"

__thread emu_thread *emu_self;

#define SPINS_BEFORE_YIELD 256

static inline uint32_t bit(const emu_thread *thread)
{
    return 1u << thread->lane;
}

/* The ready lane whose turn comes after `self`, taken off the list; NULL: none is left in this pass over the warp. */
static inline emu_thread *take_next(const emu_thread *self)
{
    emu_warp *warp = self->warp;
    uint32_t ready = warp->in[EMU_READY] & (emu_reversed ? bit(self) - 1 : ~1u << self->lane);
    if (!ready)
        return NULL;
    int lane = emu_reversed ? 31 - __builtin_clz(ready) : __builtin_ctz(ready);
    warp->in[EMU_READY] &= ~(1u << lane);
    return &warp->lanes[lane];
}

/* A fiber runs the thread it was made for, then each next thread that has not started when the one before returns. */
static void fiber_main(void)
{
    for (;;) {
        emu_thread *self = emu_self;
        emu_worker *worker = self->warp->worker;
        worker->launch->config->run(worker->launch->config->args);
        self->warp->alive &= ~bit(self);
        if (EMU_UNLIKELY(self->copies))
            emu_copies_drop(self);
        if (EMU_UNLIKELY(self->warp->in[EMU_AT_WARP]))
            emu_complete_meetings(self->warp);
        emu_thread *next = take_next(self);
        emu_self = next;
        if (next && !next->sp) {
            next->stack = self->stack;
            next->sp = next; /* not NULL: started. The context is saved when it waits */
            continue;
        }
        emu_scheduler *scheduler = worker->scheduler;
        scheduler->free_stacks[scheduler->free_count++] = self->stack;
        emu_switch(&self->sp, next ? next->sp : scheduler->sp);
    }
}

static inline void continue_with(void **save, emu_thread *next)
{
    emu_self = next;
    if (EMU_UNLIKELY(!next->sp)) {
        next->stack = (int16_t)emu_stack_take(next->warp->worker);
        next->sp = emu_fiber_new(emu_stack_top(next->warp->worker, next->stack), fiber_main);
    }
    emu_switch(save, next->sp);
}

void emu_wait(emu_thread *self, emu_state state)
{
    emu_warp *warp = self->warp;
    warp->in[state] |= bit(self);
    self->spins = state == EMU_PAUSED ? self->spins : 0;
    emu_thread *next = take_next(self);
    if (next) {
        continue_with(&self->sp, next);
        return;
    }
    emu_self = NULL;
    emu_switch(&self->sp, warp->worker->scheduler->sp);
}

void emu_leave(void)
{
    emu_thread *self = emu_self;
    emu_self = NULL;
    emu_switch(&self->sp, self->warp->worker->scheduler->sp);
    __builtin_unreachable();
}

emu_thread *emu_device_only(const char *what, uintptr_t pc)
{
    if (EMU_UNLIKELY(!emu_self)) {
        emu_error(EMU_UNSUPPORTED, (emu_site){ .pc = pc }, "%s is device code: host code cannot call it", what);
        emu_stop_program();
    }
    return emu_self;
}

void emu_pause(void)
{
    emu_wait(emu_self, EMU_PAUSED);
}

void cuemu_nanosleep(void)
{
    emu_wait(emu_device_only("__nanosleep", (uintptr_t)__builtin_return_address(0)), EMU_YIELDED);
}

void cuemu_atomic(void *address, int size, int scope)
{
    emu_thread *self = emu_device_only("an atomic function", (uintptr_t)__builtin_return_address(0));
    if (EMU_UNLIKELY(++self->spins >= SPINS_BEFORE_YIELD))
        emu_wait(self, EMU_YIELDED); /* before the atomic: it comes after what the other threads do now */
    EMU_CALL(atomic, address, size, scope, (uintptr_t)__builtin_return_address(0));
}

void cuemu_constant_load(const void *address, size_t size)
{
    if (emu_self)
        EMU_CALL(constant_load, address, size, (uintptr_t)__builtin_return_address(0));
}

void cuemu_atomic_store(void *address, int size, int scope)
{
    emu_device_only("an atomic store", (uintptr_t)__builtin_return_address(0));
    EMU_CALL(atomic, address, -size, scope, (uintptr_t)__builtin_return_address(0));
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* Runs the warp until each of its lanes waits for another warp or has returned. */
static void run_warp(emu_warp *warp)
{
    emu_worker *worker = warp->worker;
    while (!worker->killed) {
        uint32_t ready = warp->in[EMU_READY];
        if (ready) {
            int lane = emu_reversed ? 31 - __builtin_clz(ready) : __builtin_ctz(ready);
            warp->in[EMU_READY] &= ~(1u << lane);
            continue_with(&worker->scheduler->sp, &warp->lanes[lane]);
        } else if (warp->in[EMU_PAUSED]) {
            EMU_CALL(pause, warp);
            warp->in[EMU_READY] = warp->in[EMU_PAUSED];
            warp->in[EMU_PAUSED] = 0;
        } else if (!emu_complete_active(warp)) {
            break;
        }
    }
    EMU_CALL(pause, warp);
}

static void begin_block(emu_worker *worker)
{
    worker->interval = 0;
    worker->killed = worker->at_grid = false;
    for (int i = 0; i < worker->warp_count; i++) {
        emu_warp *warp = &worker->warps[i];
        for (int state = 0; state < EMU_STATES; state++)
            warp->in[state] = 0;
        warp->alive = warp->size == EMU_WARP_SIZE ? ~0u : (1u << warp->size) - 1;
        warp->in[EMU_READY] = warp->alive;
    }
    for (int i = 0; i < worker->thread_count; i++)
        worker->threads[i].sp = NULL;
    worker->scheduler->waits_only = false;
    emu_barrier_begin_block(worker);
    emu_shared_begin_block(worker);
}

/* No thread of a killed block continues: all stacks become free. */
static void abandon_block(emu_worker *worker)
{
    emu_scheduler *scheduler = worker->scheduler;
    scheduler->free_count = 0;
    for (int i = scheduler->usable; i-- > 0;)
        scheduler->free_stacks[scheduler->free_count++] = (int16_t)i;
    emu_deferred_drop(worker);
    for (int i = 0; i < worker->thread_count; i++)
        if (worker->threads[i].copies)
            emu_copies_drop(&worker->threads[i]);
}

/* Runs every warp once, then handles what the whole block waits for. Returns whether there is more to do. */
static bool run_turn(emu_worker *worker)
{
    bool waited = worker->scheduler->waits_only;
    worker->scheduler->waits_only = true;
    for (int i = 0; i < worker->warp_count && !worker->killed; i++)
        run_warp(&worker->warps[emu_reversed ? worker->warp_count - 1 - i : i]);
    if (worker->killed)
        return false;
    uint32_t alive = 0, stuck = 0, yielded = 0, polling = 0, grid = 0, barrier = 0;
    for (int i = 0; i < worker->warp_count; i++) {
        emu_warp *warp = &worker->warps[i];
        alive |= warp->alive;
        stuck |= warp->in[EMU_AT_WARP];
        yielded |= warp->in[EMU_YIELDED];
        polling |= warp->in[EMU_POLLING];
        grid |= warp->in[EMU_AT_GRID];
        barrier |= warp->in[EMU_AT_BARRIER];
        warp->in[EMU_READY] = warp->in[EMU_YIELDED] | warp->in[EMU_POLLING];
        warp->in[EMU_YIELDED] = warp->in[EMU_POLLING] = 0;
    }
    bool deadlock = polling && !yielded && waited && worker->scheduler->waits_only;
    if (deadlock)
        emu_report_no_phase(worker);
    if (yielded || polling)
        return !deadlock;
    if (stuck) {
        emu_report_stuck(worker);
        return false;
    }
    if (grid && barrier) {
        emu_report_two_barriers(worker);
        return false;
    }
    worker->at_grid = grid;
    if (alive && !grid)
        emu_barrier_release(worker);
    return alive && !grid;
}

void emu_begin_block(emu_worker *worker)
{
    begin_block(worker);
    EMU_CALL(block_begin, worker);
}

void emu_continue_block(emu_worker *worker)
{
    while (run_turn(worker))
        ;
    if (worker->killed)
        abandon_block(worker);
    else if (!worker->at_grid)
        emu_deferred_drop(worker), emu_shared_end_block(worker);
    EMU_CALL(block_end, worker);
}

void emu_resume_block(emu_worker *worker)
{
    worker->at_grid = false;
    worker->interval++;
    for (int i = 0; i < worker->warp_count; i++) {
        emu_warp *warp = &worker->warps[i];
        warp->in[EMU_READY] = warp->in[EMU_AT_GRID];
        warp->in[EMU_AT_GRID] = 0;
    }
    EMU_CALL(block_resume, worker);
}

void emu_abandon_block(emu_worker *worker)
{
    worker->at_grid = false;
    abandon_block(worker);
}

void emu_run_block(emu_worker *worker)
{
    emu_begin_block(worker);
    emu_continue_block(worker);
}

/* Sets rank, lane, warp and index of the threads of blocks of this size. */
void emu_shape_block(emu_worker *worker, cuemu_uint3 size)
{
    int count = (int)(size.x * size.y * size.z);
    worker->thread_count = count;
    worker->warp_count = (count + EMU_WARP_SIZE - 1) / EMU_WARP_SIZE;
    cuemu_uint3 index = { 0, 0, 0 };
    for (int i = 0; i < count; i++) {
        emu_thread *thread = &worker->threads[i];
        thread->rank = (uint16_t)i;
        thread->lane = (uint16_t)(i % EMU_WARP_SIZE);
        thread->warp = &worker->warps[i / EMU_WARP_SIZE];
        thread->index = index;
        if (++index.x == size.x) {
            index.x = 0;
            if (++index.y == size.y) {
                index.y = 0;
                index.z++;
            }
        }
    }
    for (int i = 0; i < worker->warp_count; i++) {
        emu_warp *warp = &worker->warps[i];
        int left = count - i * EMU_WARP_SIZE;
        *warp = (emu_warp){ .lanes = &worker->threads[i * EMU_WARP_SIZE], .worker = worker, .index = i };
        warp->size = left < EMU_WARP_SIZE ? left : EMU_WARP_SIZE;
    }
}

void cuemu_launch_bound(long long threads)
{
    const emu_thread *self = emu_device_only("a kernel", (uintptr_t)__builtin_return_address(0));
    const emu_worker *worker = self->warp->worker;
    const cuemu_launch_config *config = worker->launch->config;
    if (EMU_LIKELY(worker->thread_count <= threads))
        return;
    emu_error_of(
        &worker->threads[0], EMU_LIMIT, (emu_site){ .file = config->file, .line = config->line },
        "kernel %s is not launched: its __launch_bounds__ allow at most %lld threads in a block (the launch has %d)",
        config->kernel, threads, worker->thread_count);
    emu_kill(cudaErrorInvalidValue);
}

/* ---- built-in variables ------------------------------------------------------------------------------------------ */

cuemu_uint3 cuemu_thread_idx(void)
{
    return emu_device_only("threadIdx", (uintptr_t)__builtin_return_address(0))->index;
}

cuemu_uint3 cuemu_block_idx(void)
{
    return emu_device_only("blockIdx", (uintptr_t)__builtin_return_address(0))->warp->worker->block;
}

cuemu_uint3 cuemu_block_dim(void)
{
    return emu_device_only("blockDim", (uintptr_t)__builtin_return_address(0))->warp->worker->launch->config->block;
}

cuemu_uint3 cuemu_grid_dim(void)
{
    return emu_device_only("gridDim", (uintptr_t)__builtin_return_address(0))->warp->worker->launch->config->grid;
}

unsigned cuemu_thread_rank(void)
{
    return emu_device_only("thread_rank", (uintptr_t)__builtin_return_address(0))->rank;
}

unsigned cuemu_lane(void)
{
    return emu_device_only("the lane number", (uintptr_t)__builtin_return_address(0))->lane;
}

int cuemu_in_kernel(void)
{
    return emu_self != NULL;
}
