/* checkpoint.h -- a run on the disk, and back.
 *
 *     mt_checkpoint_save(dir, 500, &model, &rest, MT_SHARD_BYTES);         // DIR/step-500/
 *     if (mt_recover(&step, dir, NULL, NULL) == MT_OK)                     // the newest valid one (ckpt/recover.h)
 *         status = mt_checkpoint_load(dir, step, &model, &rest);
 *
 * The tensors of `model` are in model-*.safetensors with an index, which other programs load; those of `rest`, mostly
 * an optimizer's, in state-*.safetensors; integers and settings of both in the manifest. */
#pragma once

#include "core/state.h"

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

MT_C_END
