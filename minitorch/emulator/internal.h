/* internal.h -- declarations shared by the runtime's parts. Translated code uses runtime.h only.
 *
 *   CORE   fiber.c stacks and switches · sched.c, barrier.c, collective.c threads, barriers, warp functions · launch.c
 *          grids over OS threads · memory.c, api*.c memory and the host API · stream_order.c what a stream waits for ·
 *          error.c findings
 *   TRACE  trace.c hooks · shadow.c the state of each byte · race.c, stream_race.c races · warp.c requests ·
 *          report*.c text, JSON, SVG
 *
 * A launch spreads its blocks over workers, one OS thread each. A block stays on one worker; its threads are fibers.
 */
#ifndef EMU_INTERNAL_H
#define EMU_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "include/cuemu/runtime.h"

#define EMU_WARP_SIZE       32
#define EMU_MAX_THREADS     1024
#define EMU_MAX_WARPS       (EMU_MAX_THREADS / EMU_WARP_SIZE)
#define EMU_SHARED_STATIC   (48 << 10)            /* bytes a block may have by default */
#define EMU_SHARED_LIMIT    (227 << 10)           /* with cudaFuncSetAttribute */
#define EMU_SHARED_SPAN     (1 << 20)             /* addresses of one worker's shared memory, gaps included */
#define EMU_SHARED_DYNAMIC  (EMU_SHARED_SPAN / 2) /* where extern __shared__ starts in them */
#define EMU_MULTIPROCESSORS 132
#define EMU_COOPERATIVE     63  /* index of the workers that hold the blocks of a cooperative launch */
#define EMU_GRANULE         256 /* alignment of device allocations, and the smallest gap between two of them */

/* ---- running state ----------------------------------------------------------------------------------------------- */

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
typedef struct emu_record emu_record; /* one traced access or basic block: TRACE's */

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
    } trace;                            /* TRACE's: the hook block_begin resets it */
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
    bool at_grid;                  /* it waits for the other blocks of the grid (grid.c) */
    bool killed;                   /* the kernel ended with an error: no thread continues */
    struct emu_deferred *deferred; /* copies that a cuda::barrier completes (async.c) */
    volatile int busy;             /* > 0 in code that a timeout must not interrupt: it holds a lock or allocates */
    char *shared;                  /* EMU_SHARED_SPAN bytes */
    struct emu_shared_layout *layout;
    emu_thread threads[EMU_MAX_THREADS];
    emu_warp warps[EMU_MAX_WARPS];
    char *stacks; /* the threads' stacks; accesses to them are not traced */
    size_t stacks_size;
    void *trace; /* TRACE's, per worker */
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
extern int emu_worker_limit;          /* CUEMU_THREADS, by default the CPU cores; TRACE may lower it before a launch */

/* Suspends the running thread until the hook pause(warp) was called: for a hook whose buffer is full. */
void emu_pause(void);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef enum { EMU_DEVICE, EMU_MANAGED, EMU_PINNED } emu_home; /* pinned: of the host, which kernels may use too */

typedef struct emu_allocation {
    char *begin;
    size_t size, span; /* as requested; rounded up to whole granules */
    emu_home home;
    bool freed;
    uintptr_t made, released; /* the calls (pc) of cudaMalloc and cudaFree */
    uint64_t freed_number;    /* cudaFrees before it, plus 1 */
} emu_allocation;

extern char *emu_arena; /* the address range of device memory */
extern size_t emu_arena_size;

/* emu_find: the allocation, live or freed, whose granules hold `address`; NULL: none. emu_nearest: the closest one. */
emu_allocation *emu_find(const void *address);
emu_allocation *emu_nearest(const void *address);

bool emu_is_registered(const void *address, size_t size); /* host memory, by cudaHostRegister */

/* A shared array of a block. emu_shared_find gives the one that holds the offset, or the last one before it. */
typedef struct emu_shared_place {
    const cuemu_shared_array *array; /* NULL: dynamic shared memory */
    size_t begin, size;              /* offset from worker->shared */
} emu_shared_place;
/* False: the offset is in no array. */
bool emu_shared_find(const emu_worker *worker, size_t offset, emu_shared_place *place);

/* ---- findings ---------------------------------------------------------------------------------------------------- */

typedef enum {
    EMU_OUT_OF_BOUNDS,
    EMU_USE_AFTER_FREE,
    EMU_BAD_POINTER, /* null, host */
    EMU_MISALIGNED,
    EMU_UNINITIALISED,
    EMU_RACE,
    EMU_SYNC, /* barriers, warp functions, masks, deadlock */
    EMU_ASSERT,
    EMU_LIMIT, /* of the card: threads, shared memory */
    EMU_ENDLESS,
    EMU_CRASH, /* stack overflow, division by zero, trap */
    EMU_UNSUPPORTED,
    EMU_HOST_API,
    EMU_LEAK,
    EMU_KINDS
} emu_kind;

/* Where something happened: a pc (the return address of a call is one), or a line when file is not NULL. */
typedef struct emu_site {
    uintptr_t pc;
    const char *file;
    int line;
    uintptr_t other; /* pc of the other access of a race; 0: none */
} emu_site;

typedef struct emu_finding {
    emu_kind kind;
    bool warning;
    emu_site site;      /* file and line are filled in */
    const char *kernel; /* NULL: host code */
    cuemu_uint3 block, thread;
    const char *text; /* one line or several; never ends in a newline */
    uint64_t times;   /* further findings of this kind at this site are only counted */
} emu_finding;

/* Reports once per kind and site, with the running kernel, block and thread; later ones are counted. Returns whether it
 * was new. An error makes the program's exit status CUEMU_STATUS (default 86). */
bool emu_error(emu_kind kind, emu_site site, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool emu_warning(emu_kind kind, emu_site site, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the kernel at this thread, after emu_error; later CUDA calls return `code` (a cudaError_t). Does not return when
 * a thread is running. */
void emu_kill(int code);
const char *emu_kind_name(emu_kind kind);          /* "out-of-bounds" */
size_t emu_findings(const emu_finding **findings); /* all, in the order in which they were reported */

/* The source line of a pc, innermost frame outside the emulator's own headers. TRACE's (report.c). False: unknown. */
bool emu_source(uintptr_t pc, const char **file, int *line);

#define EMU_HERE ((emu_site){ .pc = (uintptr_t)__builtin_return_address(0) })

/* ---- hooks, filled by TRACE before main; NULL: not called -------------------------------------------------------- */

typedef struct emu_hooks {
    void (*launch_begin)(emu_launch *launch);
    void (*launch_end)(emu_launch *launch); /* all workers have ended */
    void (*block_begin)(emu_worker *worker);
    void (*block_end)(emu_worker *worker);        /* also of a killed block */
    void (*block_resume)(emu_worker *worker);     /* after block_end: a block at a barrier of the grid continues */
    void (*grid_barrier)(void);                   /* all blocks have arrived, and block_end was called for each */
    void (*barrier)(emu_worker *worker);          /* all live threads have arrived; interval is not yet incremented */
    void (*meet)(emu_warp *warp, uint32_t lanes); /* these lanes have synchronised in a warp function */
    void (*pause)(emu_warp *warp);                /* no lane can continue: merge their records, empty the buffers */
    void (*atomic)(void *address, int size, uintptr_t pc);                /* size < 0: a store of -size bytes */
    void (*access)(void *address, size_t size, bool write, uintptr_t pc); /* by the runtime, for the running thread */
    void (*fence)(int scope);
    void (*allocated)(emu_allocation *allocation);
    void (*freed)(emu_allocation *allocation);          /* before its memory is poisoned */
    void (*host_write)(const void *begin, size_t size); /* cudaMemcpy, cudaMemset: device memory is initialised now */
    void (*touched)(const void *begin, size_t size, bool write);     /* by a copy or library call: see stream_order.h */
    void (*host_read)(const void *begin, size_t size, uintptr_t pc); /* by a library: its input must be initialised */
    void (*finding)(const emu_finding *finding);
} emu_hooks;

extern emu_hooks emu_hook;

#endif
