/* tracer.h -- all that the checks know of a worker's blocks.
 *
 * A tracer belongs to one worker, so that blocks on several OS threads share nothing while a kernel runs. What concerns
 * the whole grid (races between blocks of different workers, totals) is computed at its end.
 */
#ifndef EMU_TRACER_H
#define EMU_TRACER_H

#include "emulator/check/cell.h"
#include "emulator/count/tally.h"
#include "emulator/run/findings.h"

/* The page table of a worker's cells of global memory: a page is allocated when its memory is first touched. */
#define EMU_PAGE_SHIFT 14
#define EMU_PAGE_CELLS (1 << (EMU_PAGE_SHIFT - 2))

typedef struct emu_pages {
    emu_cell **live;  /* touched in this launch; NULL: not yet */
    emu_cell **owned; /* ever touched */
    uint32_t *list;   /* the live ones */
    size_t count, capacity;
} emu_pages;

/* A thread's fences and atomics in this barrier interval. A time is a number of releases in the block. */
#define EMU_RELEASES 16
typedef struct emu_fences {
    uint32_t fenced;        /* stamp of its last fence */
    uint32_t saw, acquired; /* time of its last atomic; of its last atomic that a fence followed */
    uint32_t forgotten;     /* what it did before this stamp counts as ordered: no room for more releases */
    int count;
    struct {
        uint32_t before, when; /* what it did before this stamp was released at this time */
    } release[EMU_RELEASES];   /* both rising */
} emu_fences;

/* A plain read of a word that other threads update by atomics. It is not a race if the same thread then executes an
 * atomic on that address: the first read of a compare-and-swap loop may be stale. */
typedef struct emu_suspect {
    const emu_thread *thread; /* whose access would be reported; NULL: there is none */
    uintptr_t pc, address;
    const char *does;
    emu_conflict how;
    emu_other other;
} emu_suspect;

typedef struct emu_tracer {
    uint32_t tag;        /* blocks begun plus barriers passed by this worker so far */
    uint32_t block_tag;  /* tag when this block began */
    uint32_t launch_tag; /* when the launch began */
    bool races;          /* look for races? CUEMU_NORACE */
    bool instrumented;   /* device code of a traced build was seen */
    bool in_struct;      /* the access is a part of a larger object's */
    bool fenced;         /* this launch used __threadfence: blocks may order their accesses */
    uintptr_t marked_pc; /* the last access of a volatile, or atomic whose scope is its block */
    emu_pending_store pending;
    emu_suspect suspects[EMU_MAX_THREADS]; /* by the rank of the thread that read */
    int suspect_count;
    uint8_t *shared_state; /* of each byte of worker->shared; the same values as emu_device_state */
    size_t shared_used[2]; /* bytes of it that are not 0: of arrays, of dynamic shared memory */
    emu_cell *shared_cells;
    emu_pages pages;
    uint32_t meetings[EMU_MAX_WARPS];              /* synchronisations and fences of each warp since the barrier */
    uint32_t all_met[EMU_MAX_WARPS];               /* stamp of the last synchronisation of all its lanes */
    bool partly_met[EMU_MAX_WARPS];                /* some of its lanes have synchronised without the others */
    uint32_t (*met)[EMU_WARP_SIZE][EMU_WARP_SIZE]; /* [warp][i][j]: i is ordered after what j did before this stamp */
    emu_fences fences[EMU_MAX_THREADS];
    uint32_t releases; /* by atomics, in this interval */
    bool block_fenced; /* there was a fence in this interval */
    emu_tally tally;
    struct emu_turn {
        uint32_t tag;
        uint32_t fenced; /* tag of its last __threadfence; 0: none */
        uint32_t fence;  /* stamp of that */
        uint32_t warp;   /* which called it */
        uint64_t block;
    } *turns; /* which block began at which tag, of this launch */
    size_t turn_count, turn_capacity;
    struct emu_reported {
        emu_kind kind;
        uintptr_t pc;
        uint64_t order;
        bool warning;
    } reported[64]; /* the findings of this launch that were reported: equal ones are only counted */
    int reported_count;
    emu_worker *worker;
    struct emu_block_state { /* what is kept of a block while others run (cooperative.c): copies of the fields above */
        uint8_t *shared_state;
        size_t shared_used[2];
        emu_cell *shared_cells;
        uint16_t *paths; /* of its threads */
    } *own;
    emu_record *buffers;
} emu_tracer;

/* The tracer of the block that this OS thread runs; NULL: host code, or a block that is not sampled. */
extern __thread emu_tracer *emu_tracing __attribute__((tls_model("initial-exec")));

/* ---- tsan.c ---- */
void emu_trace_atomic(void *address, int size, int scope, uintptr_t pc);
void emu_trace_access(void *address, size_t size, bool write, uintptr_t pc);

#endif
