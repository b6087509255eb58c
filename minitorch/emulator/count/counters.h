/* counters.h -- counts of a traced kernel's memory accesses: exact, the same on every machine and at every -O.
 *
 *   request     one memory instruction of one warp (32 threads), whatever the number of its active lanes
 *   sector      32 bytes of global memory; a request costs the sectors it touches
 *   wavefront   one pass over the 32 banks of shared memory; a request costs one, or more when lanes conflict
 *   ideal       the fewest sectors or wavefronts with which a request of as many bytes is possible
 *
 * For programs that launch kernels and read the counts themselves (the grader's worker, tests), and for the reports.
 * Not thread-safe: call between launches. An untraced build (cuemu --fast) has all counts 0.
 */
#ifndef EMU_COUNTERS_H
#define EMU_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One access in the source: an operand of a line, identified by the address of its instruction. */
typedef struct emu_counter {
    uintptr_t pc;
    int kind;  /* 0 load, 1 store, 2 atomic */
    int space; /* 0 global, 1 shared, 2 constant */
    int size;  /* bytes per lane */
    uint64_t requests;
    uint64_t lanes;  /* active, summed over the requests */
    uint64_t passes; /* sectors (global) or wavefronts (shared, constant) */
    uint64_t ideal;
} emu_counter;

typedef struct emu_traffic {
    uint64_t requests, lanes, passes, ideal;
} emu_traffic;

/* Sums over one launch, or over all launches of a kernel with the same grid and block. */
typedef struct emu_counts {
    const char *kernel; /* as written at the launch */
    unsigned grid[3], block[3];
    uint64_t launches;
    uint64_t blocks, sampled_blocks;      /* all; the traced ones, to which the other counts refer */
    emu_traffic traffic[3][3];            /* [space][kind] */
    uint64_t bytes_read, bytes_written;   /* of global memory: 32 per sector; an atomic counts as both */
    uint64_t busiest;                     /* bytes of global memory that the lanes of one block accessed: the most */
    uint64_t conflicts;                   /* wavefronts beyond the ideal */
    uint64_t barriers;                    /* __syncthreads, once per block */
    uint64_t branches;                    /* at which lanes of a warp diverged */
    size_t static_shared, dynamic_shared; /* bytes per block */
    double seconds;                       /* of emulation, not related to a GPU's time */
    const emu_counter *sites;             /* by pc */
    size_t site_count;
} emu_counts;

/* The last launch that ended, NULL before the first. Valid until the next launch. */
const emu_counts *emu_counts_last(void);
/* All kernels so far, in order of first launch. Returns how many. */
size_t emu_counts_all(const emu_counts **all);
/* Sectors, or wavefronts for `space` 1, per request over all kinds: 0 without requests. */
double emu_counts_per_request(const emu_counts *counts, int space);
/* The source line of a site. Returns 0 when it is not known. */
int emu_counts_line(const emu_counter *site, const char **file, int *line);
/* Removes all kernels and starts counting from 0. */
void emu_counts_reset(void);

#ifdef __cplusplus
}
#endif
#endif
