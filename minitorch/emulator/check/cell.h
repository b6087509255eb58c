/* cell.h -- the record of accesses to memory (race.c): a cell for each word, and accesses that are not decided yet. */
#ifndef EMU_CELL_H
#define EMU_CELL_H

#include "emulator/run/worker.h"

/* The last write of a 4-byte word, and its reads since the barrier. 32 bytes: a cache line holds two. A stamp is the
 * number of synchronisations (__syncwarp, shuffles) and fences of the warp since the barrier. */
typedef struct emu_cell {
    uint32_t write_tag; /* the block and barrier interval: emu_tracer.tag */
    uint32_t write_pc;  /* from the start of the program */
    uint32_t value;     /* the word after the write */
    uint32_t writer;    /* rank: 10 bits, atomic: 1, byte mask: 4, flag: 1, stamp: 16 */
    uint32_t read_tag, read_pc;
    uint32_t lanes; /* the lanes of the last warp that read it, without those that have updated it by an atomic since */
    /* warp: 5 bits, OTHER_WARPS: 1, CONSTANT: 1, byte mask: 4, volatile: 1, other blocks' bytes: 4, stamp: 16 */
    uint32_t reader;
} emu_cell;

/* emu_cell.writer and .reader */
#define RANK         0x3ffu
#define ATOMIC       0x400u
#define WRITER_BYTES 11
#define WRITER_FLAG  0x8000u                /* written through a volatile */
#define BLOCK_ATOMIC (ATOMIC | WRITER_FLAG) /* written by an atomic whose scope is its block */
#define WARP         0x1fu
#define OTHER_WARPS  0x20u /* more than one warp has read it in this interval */
#define CONSTANT     0x40u /* these bytes were read by __ldg in this launch */
#define READER_BYTES 7
#define READER_FLAG  0x800u
#define OTHER_BLOCKS 12 /* the bytes that earlier blocks of this worker have read in this launch */
#define STAMP        16

/* May blocks synchronise by this access, a write or an atomic? */
static inline bool emu_is_flag(uint32_t writer)
{
    return (writer & BLOCK_ATOMIC) == ATOMIC || (writer & BLOCK_ATOMIC) == WRITER_FLAG;
}

/* How two accesses race. NARROW_ATOMIC: both are atomic, but one of them for the threads of its block only.
 * CONSTANT_LOAD: one of them is an __ldg, whatever orders the two. */
typedef enum { NONE, SAME_WARP, SAME_BLOCK, BETWEEN_BLOCKS, NARROW_ATOMIC, CONSTANT_LOAD } emu_conflict;

/* The other access of a race. */
typedef struct emu_other {
    uint64_t block;
    uint32_t rank;
    uintptr_t pc;
    const char *does; /* "reads", "writes" */
} emu_other;

/* A store that raced with another store. */
typedef struct emu_clash {
    const emu_thread *thread;
    uintptr_t pc, address;
    uint32_t bytes; /* of the word */
    int word;       /* index of the word in the store */
    emu_conflict how;
    bool atomic; /* one of the two is */
    uint32_t other_tag, other_pc, other_rank, other_value;
} emu_clash;

/* A store takes place after its hook: the next hook reads the value that was written. */
typedef struct emu_pending_store {
    emu_cell *cells; /* NULL: nothing */
    uintptr_t address;
    int words;
    bool clashed; /* the store raced with another: an error, or a warning when both wrote the same value */
    emu_clash clash;
} emu_pending_store;

#endif
