/* retain.h -- which checkpoints are kept. Unit: solutions/12-checkpoints/retain.c. */
#pragma once

#include "ckpt/commit.h"

MT_C_BEGIN

typedef struct mt_keep {
    int64_t last;  /* so many of the newest; 0: all */
    int64_t every; /* and those whose step is a multiple of it; 0: none */
    int64_t best;  /* and that of this step; -1: none */
} mt_keep;

/* mt_keeps -- whether steps[i] is kept; steps: newest first.   Lab 12.5 */
bool mt_keeps(const mt_keep *keep, const int64_t *steps, int64_t i);

/* mt_checkpoint_prune -- remove what is not kept, oldest first. The newest valid one always stays. MT_ERR_IO: some
 * could not be removed; they may be there in parts, which are not valid. Cost: the newest valid one and those that are
 * newer are read, once.   Lab 12.5 */
mt_status mt_checkpoint_prune(const char *dir, const mt_keep *keep);

MT_C_END
