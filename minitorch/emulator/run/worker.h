/* worker.h -- who runs: the threads, warps and blocks of a kernel, and the launch in progress.
 *
 * A launch spreads its blocks over workers, one OS thread each. A block stays on one worker; its threads are fibers.
 */
#ifndef EMU_WORKER_H
#define EMU_WORKER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "emulator/include/cuemu/runtime.h"

#define EMU_WARP_SIZE   32
#define EMU_MAX_THREADS 1024
#define EMU_MAX_WARPS   (EMU_MAX_THREADS / EMU_WARP_SIZE)
#define EMU_COOPERATIVE 63 /* index of the workers that hold the blocks of a cooperative launch */

#define EMU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define EMU_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* What a suspended thread waits for; emu_warp.in has the lanes of each state. */
typedef enum {
    EMU_READY,      /* its turn */
    EMU_YIELDED,    /* until the other warps have run */
    EMU_POLLING,    /* the same, for a phase of a cuda::barrier of the block */
    EMU_PAUSED,     /* emu_pause: the hook pause(warp) */
    EMU_AT_WARP,    /* the other lanes, in cuemu_warp */
    EMU_AT_ACTIVE,  /* the same in cuemu_active_mask */
    EMU_AT_BARRIER, /* the other threads of the block */
    EMU_AT_GRID,    /* the other blocks of the grid */
    EMU_STATES
} emu_state;

typedef struct emu_worker emu_worker;
typedef struct emu_warp emu_warp;
typedef struct emu_record emu_record; /* one traced access or basic block: count/record.h */

/* One thread of the block. The fields that a switch uses come first. */
typedef struct emu_thread {
    void *sp; /* its saved context; NULL: not yet started */
    emu_warp *warp;
    uint16_t rank, lane; /* in the block, in the warp */
    int16_t stack;       /* the stack it runs on */
    uint16_t spins;      /* atomics since it last waited: after many of them the other threads run */
    cuemu_uint3 index;
    struct {
        emu_record *begin, *next, *end; /* the records since the warp's last flush */
        uint32_t depth, path;           /* depth of calls, hash of the call path */
        uint32_t beyond;                /* depth of calls that exceeds the room of `paths` */
        uint16_t *paths;                /* stack of `path` */
    } trace;                            /* of check/: the hook block_begin resets it */
    struct {
        const char *file;
        uintptr_t pc; /* of the caller */
        uint64_t value, result;
        uint32_t mask;
        int line, op, arg, width;
        void (*combine)(void *lanes[32]);
    } wait;                    /* what it waits for, or waited for last */
    struct emu_copies *copies; /* cp.async not yet waited for */
} emu_thread;

struct emu_warp {
    emu_thread *lanes; /* `size` of them */
    emu_worker *worker;
    int size, index;
    uint32_t alive;          /* lanes that have not returned */
    uint32_t in[EMU_STATES]; /* suspended lanes, by state; the running lane is in none */
};

struct emu_worker {
    const struct emu_launch *launch;
    int index; /* 0 .. launch->worker_count - 1 */
    /* the block it runs */
    cuemu_uint3 block;
    uint64_t block_number; /* its linear index in the grid, x fastest */
    uint64_t order;        /* position in the order of execution: the same, or from the end with CUEMU_REVERSE */
    uint32_t interval;     /* barriers passed since the block began */
    int thread_count, warp_count;
    cuemu_uint3 shape;             /* of its blocks */
    bool sampled;                  /* trace it? See CUEMU_SAMPLE */
    bool at_grid;                  /* it waits for the other blocks of the grid (cooperative.c) */
    bool killed;                   /* the kernel ended with an error: no thread continues */
    struct emu_deferred *deferred; /* copies that a cuda::barrier completes (phase.c) */
    volatile int busy;             /* > 0 in code that a timeout must not interrupt: it holds a lock or allocates */
    char *shared;                  /* EMU_SHARED_SPAN bytes */
    struct emu_shared_layout *layout;
    emu_thread threads[EMU_MAX_THREADS];
    emu_warp warps[EMU_MAX_WARPS];
    char *stacks; /* the threads' stacks; accesses to them are not traced */
    size_t stacks_size;
    void *trace; /* of check/ */
    struct emu_scheduler *scheduler;
};

/* The launch in progress, the same for all workers. */
typedef struct emu_launch {
    const cuemu_launch_config *config;
    uint64_t number; /* launches before it */
    uint64_t block_count;
    int worker_count;      /* that take part */
    uint64_t failed_block; /* the first, by order, that ended the kernel with an error; none: UINT64_MAX */
    int failed_code;       /* its cudaError_t */
    size_t static_shared;  /* set when it has ended: bytes of shared arrays of a block, without gaps */
    double seconds;
} emu_launch;

extern __thread emu_thread *emu_self; /* the emulated thread that runs on this OS thread; NULL: host code */
extern int emu_worker_limit;          /* CUEMU_THREADS, by default the CPU cores; the reports may lower it */

extern emu_launch *emu_current;    /* NULL: no kernel runs */
extern bool emu_reversed;          /* CUEMU_REVERSE */
emu_worker *emu_this_worker(void); /* of this OS thread while it runs blocks, else NULL */

#endif
