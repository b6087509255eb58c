/* kept.h -- what compilers made of units is kept in BUILD/kept/, so that an unchanged unit is not compiled again.
 *
 * The name of a kept file is a hash of all that the compiler read: the unit and its place, the framework's headers, the
 * compilers, their flags and the grader itself. The file holds the unit's text, which must be the same, what the
 * compiler said, and the object as it was examined. The checker alone writes there, outside of all sandboxes. A file
 * that is not whole is as good as none, a folder that cannot be written to is not an error, and only the newest files
 * stay. */
#pragma once

#include "build/build.h"

/* mg_kept_open -- hash the headers and the tools, once they are in the scratch folder. */
void mg_kept_open(mg_build *b);

/* mg_kept_take -- the object that was made of `source` (a path from the scratch folder's src/) in the way that `how`
 * names, and what was said then, into `log`. Without an object (NULL) only the latter. False: nothing is kept. */
bool mg_kept_take(const mg_build *b, const char *how, const char *source, const char *object, char *log, size_t size);

/* mg_kept_put -- keep these, for mg_kept_take. */
void mg_kept_put(const mg_build *b, const char *how, const char *source, const char *object, const char *log);
