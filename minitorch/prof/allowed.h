/* allowed.h -- the memory that this process may use: a plan that needs more is refused before anything is made. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* mt_memory_allowed -- the least of what is free in the machine (swap included), the limits of the process's cgroup and
 * of those above it (v1 and v2), and what `ulimit -v` and `-d` leave; *by: which of these it is, for a message. root:
 * where /proc and /sys are looked for, "" for the machine's; below another folder ulimits do not count. INT64_MAX where
 * nothing is known. */
int64_t mt_memory_allowed(const char *root, const char **by);

/* mt_memory_check -- MT_ERR_ARGUMENT with both sizes and the advice, where `bytes` are more than is allowed. what: "a
 * step"; advice: "a smaller --batch". */
mt_status mt_memory_check(int64_t bytes, const char *what, const char *advice);

MT_C_END
