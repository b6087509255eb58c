/* disk_sim.h -- a simulated disk: mt_io (core/io.h) in memory, on which one call fails, or the power is cut.
 *
 *     mt_io *disk = mt_disk_sim_new();
 *     mt_io_use(disk);
 *     save();
 *     for (int64_t ops = 0; ops <= mt_disk_sim_ops(disk); ops++)             // the power is cut after so many of them
 *         for (int64_t s = 0; s < mt_disk_sim_states(disk, ops); s++) {
 *             mt_io *left = mt_disk_sim_cut(disk, ops, s);                   // what may be left then
 *             mt_io_use(left);
 *             recover();
 *             mt_disk_sim_free(left);
 *         }
 *
 * What a power cut leaves: of each folder, the names as of its last fsync_dir and any first part of the changes since;
 * of each file, its bytes as of its last fsync, and of the writes since all, none, the first half of the bytes, or
 * zeros in their place. These are independent of each other, so a name may be there before its bytes. Paths: "/" and
 * "." exist; names in other folders need the folder. */
#pragma once

#include "core/io.h"

MT_C_BEGIN

mt_io *mt_disk_sim_new(void); /* empty */
void mt_disk_sim_free(mt_io *disk);

/* mt_disk_sim_fail -- the n-th call from now that changes something, 0 first, fails with errno `error`, and all after
 * it when `from` is true; a write that fails has written its first half. n < 0: none fails.
 * mt_disk_sim_failed -- whether such a call was made. */
void mt_disk_sim_fail(mt_io *disk, int64_t n, int error, bool from);
bool mt_disk_sim_failed(const mt_io *disk);

/* mt_disk_sim_hold -- calls that change something wait until it is false again: a slow disk. */
void mt_disk_sim_hold(mt_io *disk, bool hold);

int64_t mt_disk_sim_ops(const mt_io *disk); /* changes so far */

/* mt_disk_sim_states -- how many states a power cut after `ops` changes may leave; at most 4096, the first of a larger
 * number. mt_disk_sim_cut -- one of them, as a new disk on which nothing is unsynced; the caller frees it. State 0
 * keeps only what was synced. */
int64_t mt_disk_sim_states(const mt_io *disk, int64_t ops);
mt_io *mt_disk_sim_cut(const mt_io *disk, int64_t ops, int64_t state);

/* mt_disk_sim_file -- the bytes of a file, to look at or to change; NULL: there is none. Valid until the next change.
 * mt_disk_sim_put -- a file as another program wrote and synced it. */
uint8_t *mt_disk_sim_file(mt_io *disk, const char *path, int64_t *size);
void mt_disk_sim_put(mt_io *disk, const char *path, const void *bytes, int64_t size);

MT_C_END
