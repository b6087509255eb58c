/* programs.h -- other programs of the same folder. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* mt_cli_sibling -- the path of another program in this one's folder; lent until the next call.
 * mt_cli_run -- run it with the words behind its name, of which NULL is the last, and wait for its end; false: it has
 * failed, or, with a message on stdout, it did not start. */
const char *mt_cli_sibling(const char *program);
bool mt_cli_run(const char *const words[]);

MT_C_END
