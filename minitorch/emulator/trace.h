/* trace.h -- declarations shared by the files of tracing: the hooks (trace.c), the state of memory (shadow.c), races
 * (race.c), the requests of warps (warp.c, request.c) and their sums (counters.c).
 *
 * A tracer belongs to one worker, so that blocks on several OS threads share nothing while a kernel runs. What concerns
 * the whole grid (races between blocks of different workers, totals) is computed at its end.
 */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include "counters.h"
#include "internal.h"
#include "race.h"

#define EMU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define EMU_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { EMU_LOAD, EMU_STORE, EMU_ATOMIC, EMU_BLOCK };        /* what a record is; EMU_BLOCK: a basic block was entered */
enum { EMU_GLOBAL, EMU_SHARED, EMU_CONSTANT, EMU_NOWHERE }; /* where its address lies */

/* One access of one lane, or one basic block. Lanes whose next records agree in all but the address execute the same
 * instruction. */
struct emu_record {
    uint64_t what;  /* address: 48 bits, size: 3, EMU_LOAD..: 2, space: 2, call depth: 9 */
    uint64_t where; /* pc: 48, hash of the call path: 16 */
};
#define EMU_ADDRESS_BITS 48
#define EMU_KIND_SHIFT   51
#define EMU_DEPTH_SHIFT  55
#define EMU_DEPTH_MOST   127 /* deeper calls are not distinguished */

/* The size is log2 of its bytes, or one of these: of members of a vector (parts.c), in its first or second half. */
enum { EMU_LOW_4 = 5, EMU_HIGH_4, EMU_PART_8 };

static inline uint64_t emu_what(uintptr_t address, int code, int kind, int space, uint32_t depth)
{
    return (uint64_t)address | (uint64_t)code << 48 | (uint64_t)kind << EMU_KIND_SHIFT | (uint64_t)space << 53 |
           (uint64_t)depth << EMU_DEPTH_SHIFT;
}
static inline uintptr_t emu_address_of(uint64_t what)
{
    return what & ((1ull << EMU_ADDRESS_BITS) - 1);
}
static inline uintptr_t emu_pc_of(uint64_t where)
{
    return where & ((1ull << EMU_ADDRESS_BITS) - 1);
}
static inline int emu_code_of(uint64_t what)
{
    return what >> 48 & 7;
}
static inline uint64_t emu_with_code(uint64_t what, int code)
{
    return (what & ~(7ull << 48)) | (uint64_t)code << 48;
}
static inline int emu_size_of(uint64_t what)
{
    static const uint8_t size[] = { 1, 2, 4, 8, 16, [EMU_LOW_4] = 4, [EMU_HIGH_4] = 4, [EMU_PART_8] = 8 };
    return size[emu_code_of(what)];
}
static inline int emu_kind_of(uint64_t what)
{
    return what >> EMU_KIND_SHIFT & 3;
}
static inline int emu_space_of(uint64_t what)
{
    return what >> 53 & 3;
}

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
    uintptr_t flag_pc;   /* the last access of a volatile */
    emu_pending pending;
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
    struct emu_sites *sites;
    struct emu_parts *parts;
    emu_counts totals;
    uint64_t block_bytes; /* of global memory that lanes of this block have accessed */
    struct emu_turn {
        uint32_t tag;
        uint32_t fenced; /* tag of its last __threadfence; 0: none */
        uint32_t fence;  /* stamp of that */
        uint32_t warp;   /* which called it */
        uint64_t block;
    } *turns; /* which block began at which tag, of this launch */
    size_t turn_count, turn_capacity;
    struct emu_told {
        emu_kind kind;
        uintptr_t pc;
        uint64_t order;
        bool warning;
    } told[64]; /* reported in this launch: further ones are only counted */
    int told_count;
    emu_worker *worker;
    struct emu_block_state { /* what is kept of a block while others run (grid.c): copies of the fields above */
        uint8_t *shared_state;
        size_t shared_used[2];
        emu_cell *shared_cells;
        uint16_t *paths; /* of its threads */
    } *own;
    emu_record *buffers;
} emu_tracer;

extern char __executable_start[]; /* of the program: pcs are kept relative to it */

/* The tracer of the block that this OS thread runs; NULL: host code, or a block that is not sampled. */
extern __thread emu_tracer *emu_tracing __attribute__((tls_model("initial-exec")));

/* ---- trace.c ---- */
void emu_trace_atomic(void *address, int size, uintptr_t pc);
void emu_trace_access(void *address, size_t size, bool write, uintptr_t pc);

/* ---- shadow.c: what each byte of device memory is ---------------------------------------------------------------- */

enum { EMU_NO_MEMORY, EMU_EMPTY, EMU_FULL = 3 }; /* unallocated or freed, uninitialised, initialised */
extern uint8_t *emu_device_state;                /* of each byte of the arena */
extern bool emu_writes_unseen; /* a kernel ran untraced: which bytes are initialised is no longer known */

void emu_shadow_open(void);
void emu_shadow_begin_block(emu_tracer *tracer);
/* For an access to bytes that are not all initialised: reports it and ends the kernel, or marks them as initialised. */
void emu_check_global(uintptr_t address, int size, int kind, uintptr_t pc);
void emu_check_shared(emu_tracer *tracer, uintptr_t address, int size, int kind, uintptr_t pc);
/* The address is neither in the arena nor shared nor on a stack. Returns its space. */
int emu_check_elsewhere(uintptr_t address, int size, int kind, uintptr_t pc);
/* Was this kind already reported at this pc in this launch? Then it is only counted. */
bool emu_told(emu_tracer *tracer, const emu_thread *thread, emu_kind kind, uintptr_t pc, bool warning);
void emu_misaligned(uintptr_t address, int size, uintptr_t pc);
/* The index of a byte of global memory: the arena's bytes come first, then the program's variables'. */
size_t emu_position(uintptr_t address);
uintptr_t emu_address_at(size_t position);
size_t emu_positions(void);
/* " at unit.cu:12", or "" when the line is not known. */
const char *emu_at_line(char *text, size_t size, uintptr_t pc);
/* "s[32]" in words: which allocation or array the address is in and where. */
const char *emu_describe(char *text, size_t size, uintptr_t address);

/* ---- race.c ------------------------------------------------------------------------------------------------------ */

void emu_race_begin_block(emu_tracer *tracer);
void emu_race_global(emu_tracer *tracer, uintptr_t address, int size, int kind, uintptr_t pc);
void emu_race_shared(emu_tracer *tracer, uintptr_t address, int size, int kind, uintptr_t pc);
/* The common case of a load: a lane of the warp has read the words since the warp last synchronised, and no thread has
 * written them at tag `before` or later. Then there is nothing to check. False: call emu_race_global or _shared. */
static inline bool emu_race_read_again(const emu_tracer *t, emu_cell *c, uintptr_t address, int size, uintptr_t pc,
                                       uint32_t before)
{
    const emu_thread *self = emu_self;
    uint32_t warp = self->rank / EMU_WARP_SIZE;
    uint32_t bytes = size < 4 ? ((1u << size) - 1) << (address & 3) : 0xf;
    uint32_t compared = WARP | 0xfu << READER_BYTES | 0xffffu << STAMP;
    uint32_t known = warp | bytes << READER_BYTES | t->meetings[warp] << STAMP;
    for (int i = 0; i < (size > 4 ? size / 4 : 1); i++, c++) {
        if (c->read_tag != t->tag || c->write_tag >= before || (c->reader & compared) != known)
            return false;
        c->lanes |= 1u << self->lane;
        c->read_pc = (uint32_t)(pc - (uintptr_t)__executable_start);
    }
    return true;
}
void emu_race_report(emu_tracer *tracer, const emu_thread *thread, uintptr_t pc, const char *does, uintptr_t address,
                     const emu_other *other, emu_conflict how, bool harmless);
void emu_race_settle(emu_tracer *tracer);          /* reads the pending store's value */
void emu_race_report_suspects(emu_tracer *tracer); /* at a barrier or the block's end: those left are races */
/* After the launch: accesses of blocks that ran on different workers. */
void emu_race_between_workers(emu_tracer *const *tracers, int count);

/* ---- warp.c, parts.c, request.c, counters.c ---------------------------------------------------------------------- */

/* Merges the lanes' records into requests. Stops at a paused lane whose next record is not known. */
void emu_merge(emu_tracer *tracer, emu_warp *warp);
/* One instruction of a warp: `count` addresses in lane order, `lanes` which lanes. */
void emu_request(emu_tracer *tracer, const emu_record *like, const uint64_t *addresses, int count, uint32_t lanes);

/* The same of members of vectors; those of one block are joined. */
struct emu_parts *emu_parts_new(void);
void emu_part_request(emu_tracer *tracer, const emu_record *like, const uint64_t *addresses, int count, uint32_t lanes);
/* A basic block of these lanes has ended: what waits is counted as it is. */
void emu_parts_end(emu_tracer *tracer, uint32_t lanes);

/* 32-byte sectors that the addresses touch; the fewest that their bytes need. */
int emu_sectors(const uint64_t *addresses, int count, int size);
/* Passes that shared memory needs: 32 banks of 4 bytes; 8-byte accesses go by half warps, 16-byte ones by quarters. */
int emu_wavefronts(const uint64_t *addresses, int count, int size, uint32_t lanes, bool atomic);

struct emu_sites *emu_sites_new(void);
void emu_sites_clear(struct emu_sites *sites);
emu_counter *emu_site_of(struct emu_sites *sites, uint64_t what, uint64_t where);
void emu_counts_finish(emu_launch *launch, emu_tracer *const *tracers, int count);

#endif
