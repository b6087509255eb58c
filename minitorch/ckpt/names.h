/* names.h -- the checkpoints in a folder. */
#pragma once

#include "ckpt/commit.h"
#include "core/io.h"

MT_C_BEGIN

/* mt_checkpoint_steps -- the steps of all folders DIR/step-N, valid or not, newest first; the caller frees them.
 * Other names are passed over. */
mt_status mt_checkpoint_steps(int64_t **steps, int64_t *count, const char *dir);

MT_C_END
