/* async.h -- saving while training goes on. Unit: solutions/12-checkpoints/async.c.
 *
 *     mt_saver *saver;
 *     mt_saver_config config = { .dir = "runs", .async = true, .keep = { 3, 0, -1 } };
 *     mt_status status = mt_saver_open(&saver, &config);
 *     status = mt_saver_save(saver, step, &model, &rest);              // as often as wanted
 *     status = mt_saver_close(saver);                                  // waits
 *
 * Values are copied before `save` returns, and a thread writes the copy while training changes the originals. */
#pragma once

#include "ckpt/checkpoint.h"

MT_C_BEGIN

typedef struct mt_saver_config {
    const char *dir;     /* lent; exists. One program saves there at a time */
    int64_t shard_bytes; /* 0: MT_SHARD_BYTES */
    mt_keep keep;
    bool async;   /* by a thread; otherwise `save` returns when it is done, and copies nothing */
    bool new_run; /* after the first save, checkpoints of the run that was in dir before are removed */
} mt_saver_config;

typedef struct mt_saver mt_saver; /* opaque */

/* mt_saver_open -- MT_ERR_UNAVAILABLE: another program has this folder. MT_ERR_IO: there is no such folder. */
mt_status mt_saver_open(mt_saver **out, const mt_saver_config *config);

/* mt_saver_prepare -- allocate the copies now, so that the first save costs no more than a later one: memory that was
 * never used costs several times the copy. Lists as for `save`. Nothing without config.async. */
void mt_saver_prepare(mt_saver *saver, const mt_state *model, const mt_state *rest);

/* mt_saver_save -- waits for the save before this one; when that one failed, returns its error and saves nothing.
 * Otherwise copies all values (the first time, unless prepared, it allocates as much memory) and begins to write them.
 * The lists are free to change or be freed after it; the next ones have the same names. Cost: the copy, and the wait.
 * Then old checkpoints are removed (mt_checkpoint_prune); a failure of that is a warning.   Lab 12.7 */
mt_status mt_saver_save(mt_saver *saver, int64_t step, const mt_state *model, const mt_state *rest);

/* mt_saver_wait -- until the last save is done; returns its error, once.   Lab 12.7 */
mt_status mt_saver_wait(mt_saver *saver);

mt_status mt_saver_best(mt_saver *saver, int64_t step); /* from now on kept; waits as mt_saver_wait does */
mt_status mt_saver_close(mt_saver *saver);              /* waits likewise; NULL is allowed */

MT_C_END
