/* tally.h -- what a worker has counted in this launch: its warps' records become requests (merge.c, parts.c), these get
 * their costs (request.c), and the sums are kept per access site (counters.c). */
#ifndef EMU_TALLY_H
#define EMU_TALLY_H

#include "emulator/count/counters.h"
#include "emulator/count/record.h"

typedef struct emu_tally {
    struct emu_sites *sites;
    struct emu_parts *parts;
    emu_counts totals;
    uint64_t block_bytes; /* of global memory that lanes of this block have accessed */
} emu_tally;

/* Merges the lanes' records into requests. Stops at a paused lane whose next record is not known. */
void emu_merge(emu_tally *tally, emu_warp *warp);
/* One instruction of a warp: `count` addresses in lane order, `lanes` which lanes. */
void emu_request(emu_tally *tally, const emu_record *like, const uint64_t *addresses, int count, uint32_t lanes);

/* The same of members of vectors; those of one block are joined. */
struct emu_parts *emu_parts_new(void);
void emu_part_request(emu_tally *tally, const emu_record *like, const uint64_t *addresses, int count, uint32_t lanes);
/* A basic block of these lanes has ended: what waits is counted as it is. */
void emu_parts_end(emu_tally *tally, uint32_t lanes);

/* 32-byte sectors that the addresses touch; the fewest that their bytes need. */
int emu_sectors(const uint64_t *addresses, int count, int size);
/* Passes that shared memory needs: 32 banks of 4 bytes; 8-byte accesses go by half warps, 16-byte ones by quarters. */
int emu_wavefronts(const uint64_t *addresses, int count, int size, uint32_t lanes, bool atomic);

struct emu_sites *emu_sites_new(void);
void emu_sites_clear(struct emu_sites *sites);
emu_counter *emu_site_of(struct emu_sites *sites, uint64_t what, uint64_t where);
void emu_counts_finish(emu_launch *launch, emu_tally *const *tallies, int count);

#endif
