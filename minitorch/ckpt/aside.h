/* aside.h -- a run that goes back to an earlier checkpoint deletes nothing: what lies after it is moved aside. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* mt_checkpoint_aside -- move all checkpoints of DIR after `step` to a new folder DIR/aside-N, for the first N that is
 * free, and copy those of `files` (names, ended by NULL) that DIR has there, so that this folder is the run as it was.
 * out [MT_PATH_SIZE]: its path; "" where no checkpoint lies after `step`, and nothing is done. The newest is moved
 * first: a crash leaves the older ones. The caller has DIR's lock (mt_saver_open).
 * MT_ERR_IO: some are where they were, and each is in one of the two folders. */
mt_status mt_checkpoint_aside(char *out, const char *dir, int64_t step, const char *const *files);

MT_C_END
