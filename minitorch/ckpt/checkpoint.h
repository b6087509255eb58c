/* checkpoint.h -- a run on the disk, and back; the checkpoints in the folder of a run.
 *
 *     mt_checkpoint_save(dir, 500, &model, &rest, MT_SHARD_BYTES);         // DIR/step-500/
 *     if (mt_recover(&step, dir, NULL, NULL) == MT_OK)                     // the newest valid one
 *         status = mt_checkpoint_load(dir, step, &model, &rest);
 *
 * The tensors of `model` are in model-*.safetensors with an index, which other programs load; those of `rest`, mostly
 * an optimizer's, in state-*.safetensors; integers and settings of both in the manifest. */
#pragma once

#include "ckpt/manifest.h"
#include "ckpt/values.h"
#include "core/io.h"

MT_C_BEGIN

#define MT_SHARD_BYTES ((int64_t)2 << 30) /* of a file, unless told otherwise */

/* mt_checkpoint_save -- an older one of this step is complete until the new one is, DIR/step-N.new before it takes its
 * name. MT_ERR_IO: there is none of this step or the older one, and those of other steps are as before. */
mt_status mt_checkpoint_save(const char *dir, int64_t step, const mt_state *model, const mt_state *rest,
                             int64_t shard_bytes);

/* mt_checkpoint_mend -- end what a crash has left of saving a step again, before DIR is used: a DIR/step-N.new whose
 * older one is gone takes its name, others are removed. The caller has DIR's lock (mt_saver_open). */
void mt_checkpoint_mend(const char *dir);

/* mt_checkpoint_load -- copy all tensors and integers of both lists, and compare all settings, as mt_safetensors_load
 * does. The checkpoint must have been checked (mt_recover, mt_checkpoint_check). Nothing is changed after a failure. */
mt_status mt_checkpoint_load(const char *dir, int64_t step, const mt_state *model, const mt_state *rest);

/* mt_checkpoint_text -- a value of a checkpoint's manifest ("program", "best step") into text [size]. MT_ERR_FORMAT:
 * there is none of this name. */
mt_status mt_checkpoint_text(char *text, int64_t size, const char *dir, int64_t step, const char *name);

/* ---- which there are ------------------------------------------------------------------------------------- */

/* mt_checkpoint_steps -- the steps of all folders DIR/step-N, valid or not, newest first; the caller frees them.
 * Other names are passed over. */
mt_status mt_checkpoint_steps(int64_t **steps, int64_t *count, const char *dir);

/* ---- the newest that is complete: solutions/12-checkpoints/recover.c --------------------------------------- */

/* mt_checkpoint_check -- whether all files of a checkpoint have the bytes and the CRC-32C that its manifest says, and
 * its step is that of its folder's name. MT_ERR_IO, MT_ERR_FORMAT: mt_last_error has the path of the first file that
 * has not (of the folder, for its step), and for a size both numbers of bytes. What was valid once may be damaged now.
 * Cost: all of it is read once.   Lab 12.4 */
mt_status mt_checkpoint_check(const char *dir, int64_t step);

/* mt_recover -- the newest step of DIR whose checkpoint is valid; each newer one is passed to `skipped` with the
 * reason, newest first (NULL: a warning). These are read once, and older ones not at all. MT_ERR_IO: there is no
 * checkpoint, or no folder. MT_ERR_FORMAT: none of them is valid.   Lab 12.4 */
typedef void (*mt_skipped)(void *user, int64_t step, const char *why);
mt_status mt_recover(int64_t *step, const char *dir, mt_skipped skipped, void *user);

/* ---- which are kept: solutions/12-checkpoints/retain.c ----------------------------------------------------- */

typedef struct mt_keep {
    int64_t last;  /* number of the newest checkpoints to keep; 0: all */
    int64_t every; /* and those whose step is a multiple of it; 0: none */
    int64_t best;  /* and that of this step; -1: none */
} mt_keep;

/* mt_keeps -- whether steps[i] is kept; steps: newest first.   Lab 12.5 */
bool mt_keeps(const mt_keep *keep, const int64_t *steps, int64_t i);

/* mt_checkpoint_prune -- remove what is not kept, oldest first. The newest valid one always stays. MT_ERR_IO: some
 * could not be removed; they may be there in parts, which are not valid. Cost: the newest valid one and those that are
 * newer are read, once.   Lab 12.5 */
mt_status mt_checkpoint_prune(const char *dir, const mt_keep *keep);

/* ---- a run that goes back to an earlier one deletes nothing -------------------------------------------------- */

/* mt_checkpoint_aside -- move all checkpoints of DIR after `step` to a new folder DIR/aside-N, for the first N that is
 * free, and copy those of `files` (names, ended by NULL) that DIR has there, so that this folder is the run as it was.
 * out [MT_PATH_SIZE]: its path; "" where no checkpoint lies after `step`, and nothing is done. The newest is moved
 * first: a crash leaves the older ones. The caller has DIR's lock (mt_saver_open).
 * MT_ERR_IO: some are where they were, and each is in one of the two folders. */
mt_status mt_checkpoint_aside(char *out, const char *dir, int64_t step, const char *const *files);

MT_C_END
