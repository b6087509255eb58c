/* recover.h -- the newest checkpoint that is complete. Unit: solutions/12-checkpoints/recover.c. */
#pragma once

#include "ckpt/manifest.h"

MT_C_BEGIN

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

MT_C_END
