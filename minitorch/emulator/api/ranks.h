/* ranks.h -- the processes of one NCCL communicator, and what they tell each other (ranks.c).
 *
 * A channel is a sequence of announcements by one rank: of its collectives, of its sends to another rank, of its
 * receives from another. An announcement may carry bytes. Those for whom it is take it, once each; then its place is
 * free again.
 */
#ifndef EMU_RANKS_H
#define EMU_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_MOST_RANKS 16
#define EMU_ID_BYTES   128
#define EMU_SLOTS      256 /* announcements of a channel that have not been taken */

typedef struct emu_announced {
    uint64_t number; /* in its channel, from 1; 0: none yet. Written last */
    uint64_t count, at, size;
    int32_t kind, type, reduction, root;
    uint32_t takers; /* that have not taken it yet */
    uint32_t unused;
} emu_announced;

typedef struct emu_ranks {
    struct emu_shared *shared;
    int file, rank, size;
    uint64_t end; /* of this rank's bytes in the file */
    double deadline, join_until;
    int made; /* the file of the id, if this process has made it; else -1 */
} emu_ranks;

typedef enum { EMU_COLLECTIVES, EMU_SENDS, EMU_RECEIVES } emu_channel_kind;
int emu_channel(emu_channel_kind kind, int rank, int peer);

/* False, or NULL: why[400] says why. emu_ranks_join takes this rank's place. emu_ranks_met: have all joined? 1; 0: not
 * yet, only without `wait`; -1: they will not. */
bool emu_ranks_id(char id[EMU_ID_BYTES], char *why);
emu_ranks *emu_ranks_join(const char id[EMU_ID_BYTES], int size, int rank, char *why);
int emu_ranks_met(emu_ranks *ranks, bool wait, char *why);
void emu_ranks_leave(emu_ranks *ranks, bool aborted); /* frees it */

/* Why another rank will announce nothing any more: "has ended"; NULL: it may. */
const char *emu_rank_gone(const emu_ranks *ranks, int rank);

/* False: the channel is full, and its places were not taken before the deadline. */
bool emu_announce(emu_ranks *ranks, int channel, const emu_announced *what, const void *data);
const emu_announced *emu_announcement(const emu_ranks *ranks, int channel, uint64_t number); /* NULL: not yet */
void emu_bytes(const emu_ranks *ranks, const emu_announced *what, size_t from, void *to, size_t size);
void emu_take(emu_ranks *ranks, int channel, uint64_t number);

/* Waits for a change since `seen` (emu_changes), but not for long. */
uint32_t emu_changes(const emu_ranks *ranks);
void emu_wait_for_change(const emu_ranks *ranks, uint32_t seen);
double emu_seconds(void);

#endif
