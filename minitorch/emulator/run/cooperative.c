/* cooperative.c -- cooperative launches: blocks that wait for each other in grid.sync().
 *
 * All blocks of the grid exist at the same time, each with its own threads, stacks and shared memory. One OS thread
 * runs them one after another, each up to the next barrier of the grid; when all have arrived they continue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"
#include "emulator/run/shared.h"
#include "emulator/run/workers.h"

static emu_worker **blocks; /* kept for later launches */
static int made;

void cuemu_grid_sync(const char *file, int line)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    emu_thread *self = emu_device_only("grid.sync()", pc);
    if (!self->warp->worker->launch->config->cooperative) {
        emu_error(EMU_SYNC, (emu_site){ .pc = pc, .file = file, .line = line },
                  "grid.sync() in a kernel that was launched with <<<>>>: blocks need not run at the same time\n"
                  "hint: launch it with cudaLaunchCooperativeKernel");
        emu_kill(cudaErrorLaunchFailure);
    }
    self->wait.pc = pc;
    self->wait.file = file;
    self->wait.line = line;
    emu_wait(self, EMU_AT_GRID);
}

int cuemu_grid_is_cooperative(void)
{
    return emu_device_only("a grid group", (uintptr_t)__builtin_return_address(0))
        ->warp->worker->launch->config->cooperative;
}

static void make_blocks(int count)
{
    if (count <= made)
        return;
    blocks = realloc(blocks, (size_t)count * sizeof blocks[0]);
    if (!blocks)
        abort();
    while (made < count)
        blocks[made++] = emu_worker_new(EMU_COOPERATIVE);
}

static const emu_thread *first_at(const emu_worker *block, emu_state state)
{
    int w = 0;
    while (!block->warps[w].in[state])
        w++;
    return &block->warps[w].lanes[__builtin_ctz(block->warps[w].in[state])];
}

static emu_site place_of(const emu_thread *thread)
{
    return (emu_site){ .pc = thread->wait.pc, .file = thread->wait.file, .line = thread->wait.line };
}

void emu_report_two_barriers(emu_worker *block)
{
    const emu_thread *thread = first_at(block, EMU_AT_GRID), *other = first_at(block, EMU_AT_BARRIER);
    emu_error_of(thread, EMU_SYNC, place_of(thread),
                 "threads of one block wait here for the grid and at line %d for the block: none can continue\n"
                 "hint: all threads of the grid must reach grid.sync()",
                 other->wait.line);
    emu_kill_block(block, cudaErrorLaunchFailure);
}

/* A whole block has returned, and others wait for it. */
static void report_missing(emu_worker *waiting, int returned, int count)
{
    const emu_thread *thread = first_at(waiting, EMU_AT_GRID);
    emu_error_of(thread, EMU_SYNC, place_of(thread),
                 "grid.sync() is not reached by %d of %d blocks, which have returned: the others wait for ever\n"
                 "hint: every thread of the grid must reach it: not inside an if on blockIdx, and not after a return",
                 returned, count);
    emu_kill_block(waiting, cudaErrorLaunchFailure);
}

/* Runs each block to the next barrier of the grid or its end. Returns how many wait at the barrier. */
static int run_phase(emu_launch *launch, bool first, int *returned)
{
    int count = (int)launch->block_count, waiting = 0;
    for (int i = 0; i < count && launch->failed_block == UINT64_MAX; i++) {
        emu_worker *block = blocks[emu_reversed ? count - 1 - i : i];
        if (!first && !block->at_grid)
            continue;
        emu_become(block);
        if (first)
            emu_begin_block(block);
        else
            emu_resume_block(block);
        emu_continue_block(block);
        if (block->at_grid)
            waiting++;
        else
            ++*returned;
    }
    return waiting;
}

void emu_run_cooperative(emu_launch *launch)
{
    int count = (int)launch->block_count, returned = 0, waiting = 0;
    make_blocks(count);
    for (int i = 0; i < count; i++)
        emu_take_block(blocks[i], launch, (uint64_t)(emu_reversed ? count - 1 - i : i));
    emu_watch_begin();
    bool first = true;
    do {
        waiting = run_phase(launch, first, &returned);
        first = false;
        if (waiting && launch->failed_block == UINT64_MAX) {
            EMU_CALL(grid_barrier);
            for (int i = 0; returned && i < count; i++)
                if (blocks[i]->at_grid) {
                    report_missing(blocks[i], returned, count);
                    break;
                }
        }
    } while (waiting && launch->failed_block == UINT64_MAX);
    for (int i = 0; i < count; i++)
        if (blocks[i]->at_grid)
            emu_abandon_block(blocks[i]);
    emu_become(NULL);
    emu_watch_end();
    launch->static_shared = emu_shared_used(blocks[0], launch);
}
