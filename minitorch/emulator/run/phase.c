/* phase.c -- cuda::barrier, and the copies that it completes.
 *
 * A barrier is one word: threads that are still to arrive in this phase, threads that each phase expects, the number of
 * the phase. An arrival is a fence and then an atomic, the end of a wait an atomic and then a fence: order.c derives
 * from these which accesses are ordered. A copy of memcpy_async is carried out by the thread whose arrival ends the
 * phase, as late as CUDA allows: a thread that reads the result without waiting for the phase is in a race.
 */
#include <stdlib.h>
#include <string.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"

#define HERE        ((uintptr_t)__builtin_return_address(0))
#define COUNT_BITS  20
#define COUNT(word) ((uint32_t)(word) & ((1u << COUNT_BITS) - 1))

typedef struct emu_deferred {
    struct emu_deferred *next;
    uint64_t *barrier;
    char *to;
    const char *from;
    size_t size;
    uintptr_t pc;
} emu_deferred;

static uint64_t word_of(uint32_t pending, uint32_t expected, uint64_t phase)
{
    return pending | (uint64_t)expected << COUNT_BITS | phase << 2 * COUNT_BITS;
}

void emu_deferred_drop(emu_worker *worker)
{
    while (worker->deferred) {
        emu_deferred *d = worker->deferred;
        worker->deferred = d->next;
        free(d);
    }
}

void cuemu_phase_init(uint64_t *barrier, uint32_t expected)
{
    emu_device_only("init of cuda::barrier", HERE);
    EMU_CALL(access, barrier, sizeof *barrier, true, HERE);
    __atomic_store_n(barrier, word_of(expected, expected, 0), __ATOMIC_RELEASE);
}

static uint64_t load(const uint64_t *barrier, uintptr_t pc)
{
    uint64_t word = __atomic_load_n(barrier, __ATOMIC_ACQUIRE);
    if (EMU_LIKELY(COUNT(word >> COUNT_BITS) && COUNT(word) <= COUNT(word >> COUNT_BITS)))
        return word;
    emu_error(EMU_SYNC, (emu_site){ .pc = pc },
              "the cuda::barrier has not been initialised, or all its threads have dropped\n"
              "hint: one thread calls init(&barrier, count), then all of the block call __syncthreads()");
    emu_kill(cudaErrorLaunchFailure);
    return word;
}

/* The widest piece, in bytes, to which both addresses are aligned: 16 at most. */
static size_t piece(uintptr_t to, uintptr_t from, size_t size)
{
    size_t bytes = 16;
    while (bytes > size || ((to | from) & (bytes - 1)))
        bytes /= 2;
    return bytes;
}

static void touch(const char *to, const char *from, size_t size, const char *at, bool write, uintptr_t pc)
{
    for (size_t done = 0, bytes; emu_hook.access && done < size; done += bytes) {
        bytes = piece((uintptr_t)to + done, (uintptr_t)from + done, size - done);
        emu_hook.access((void *)(uintptr_t)(at + done), bytes, write, pc);
    }
}

/* Carries out the copies of the barrier's phase, in their order. */
static void complete(emu_worker *worker, const uint64_t *barrier)
{
    emu_deferred *mine = NULL, **end = &mine;
    for (emu_deferred **at = &worker->deferred; *at;) {
        emu_deferred *d = *at;
        if (d->barrier != barrier) {
            at = &d->next;
            continue;
        }
        *at = d->next;
        *end = d;
        end = &d->next;
    }
    *end = NULL;
    while (mine) {
        emu_deferred *d = mine;
        touch(d->to, d->from, d->size, d->to, true, d->pc);
        memcpy(d->to, d->from, d->size);
        mine = d->next;
        free(d);
    }
}

void cuemu_phase_copy(uint64_t *barrier, void *to, const void *from, size_t size)
{
    emu_thread *self = emu_device_only("memcpy_async", HERE);
    emu_worker *worker = self->warp->worker;
    load(barrier, HERE);
    touch(to, from, size, from, false, HERE);
    worker->busy++;
    emu_deferred *d = malloc(sizeof *d), **end = &worker->deferred;
    worker->busy--;
    if (!d)
        abort();
    *d = (emu_deferred){ .barrier = barrier, .to = to, .from = from, .size = size, .pc = HERE };
    while (*end)
        end = &(*end)->next;
    *end = d;
}

void cuemu_copy_pieces(void *to, const void *from, size_t size)
{
    for (size_t done = 0, bytes; done < size; done += bytes) {
        bytes = piece((uintptr_t)to + done, (uintptr_t)from + done, size - done);
        cuemu_copy_async((char *)to + done, (const char *)from + done, (int)bytes, 0);
    }
}

uint64_t cuemu_phase_arrive(uint64_t *barrier, uint32_t count, int drop, int scope)
{
    emu_thread *self = emu_device_only("arrive of cuda::barrier", HERE);
    emu_worker *worker = self->warp->worker;
    EMU_CALL(fence, scope);
    EMU_CALL(atomic, barrier, sizeof *barrier, scope, HERE);
    uint64_t word = load(barrier, HERE), next;
    worker->scheduler->waits_only = false;
    if (COUNT(word) == count) {
        EMU_CALL(fence, scope); /* after all that arrived */
        complete(worker, barrier);
        EMU_CALL(fence, scope);
        EMU_CALL(atomic, barrier, sizeof *barrier, scope, HERE);
    }
    do {
        uint32_t pending = COUNT(word), expected = COUNT(word >> COUNT_BITS) - (drop ? count : 0);
        if (count > pending) {
            emu_error(EMU_SYNC, (emu_site){ .pc = HERE },
                      "%u arrive at a cuda::barrier that expects %u more in this phase\n"
                      "hint: init(&barrier, count) gets the number of arrivals of each phase",
                      count, pending);
            emu_kill(cudaErrorLaunchFailure);
        }
        next = pending == count ? word_of(expected, expected, (word >> 2 * COUNT_BITS) + 1)
                                : word_of(pending - count, expected, word >> 2 * COUNT_BITS);
    } while (!__atomic_compare_exchange_n(barrier, &word, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return word >> 2 * COUNT_BITS;
}

uint64_t cuemu_phase(uint64_t *barrier)
{
    emu_device_only("a cuda::barrier", HERE);
    return __atomic_load_n(barrier, __ATOMIC_ACQUIRE) >> 2 * COUNT_BITS;
}

static void acquire(uint64_t *barrier, int scope, uintptr_t pc)
{
    emu_self->warp->worker->scheduler->waits_only = false;
    EMU_CALL(atomic, barrier, sizeof *barrier, scope, pc);
    EMU_CALL(fence, scope);
}

int cuemu_phase_ended(uint64_t *barrier, uint64_t phase, int scope)
{
    emu_thread *self = emu_device_only("a cuda::barrier", HERE);
    if (load(barrier, HERE) >> 2 * COUNT_BITS == phase) {
        emu_wait(self, EMU_YIELDED); /* it may ask in a loop */
        return 0;
    }
    acquire(barrier, scope, HERE);
    return 1;
}

void cuemu_phase_wait(uint64_t *barrier, uint64_t phase, int scope)
{
    emu_thread *self = emu_device_only("wait of cuda::barrier", HERE);
    self->wait.pc = HERE;
    while (load(barrier, HERE) >> 2 * COUNT_BITS == phase)
        emu_wait(self, scope ? EMU_YIELDED : EMU_POLLING);
    acquire(barrier, scope, HERE);
}

void emu_report_no_phase(emu_worker *worker)
{
    for (int i = 0; i < worker->warp_count; i++) {
        const emu_warp *warp = &worker->warps[i];
        if (!warp->in[EMU_READY])
            continue;
        const emu_thread *stuck = &warp->lanes[__builtin_ctz(warp->in[EMU_READY])];
        emu_error_of(
            stuck, EMU_SYNC, (emu_site){ .pc = stuck->wait.pc },
            "deadlock: threads wait for a phase of a cuda::barrier or pipeline that never ends, because too few "
            "threads arrive\nhint: as many threads as init() was given must arrive in each phase; in a pipeline, "
            "each producer commits and each consumer releases every stage");
        break;
    }
    emu_kill_block(worker, cudaErrorLaunchFailure);
}
