/* code_lines.h -- C text as lines that can be compared whatever its comments, blanks and names are. */
#pragma once

#include "core/base.h"

/* mg_read_code -- a file (at most `most` bytes of it) without its comments, as a string the caller frees; "" when it
 * cannot be read. Lines stay lines. */
char *mg_read_code(const char *path, size_t most);

/* mg_hash_line -- a hash of the first line of `line`, in which blanks do not count, all names but those of statements
 * are equal, and all numbers are. 0: the line has no word ("}"). *next is the line after it. */
uint64_t mg_hash_line(const char *line, const char **next);
