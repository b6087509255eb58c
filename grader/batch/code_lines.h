/* code_lines.h -- C text as lines that can be compared whatever its comments, blanks and names are. */
#pragma once

#include "core/base.h"

/* mg_read_code -- a file (at most `most` bytes of it) without its comments, as a string the caller frees; "" when it
 * cannot be read. Lines stay lines. */
char *mg_read_code(const char *path, size_t most);

/* mg_hash_line -- of the line that `line` begins with: without blanks, every name but those of statements the same,
 * every number the same. 0: there is no word in it ("}"). *next: behind it. */
uint64_t mg_hash_line(const char *line, const char **next);
