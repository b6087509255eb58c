/* allowed.h -- the memory and the processors that this process may use: a plan that needs more memory is refused before
 * anything is made, and there are as many threads as there are processors for them. */
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

/* mt_threads_allowed -- the number of processors that the process's affinity and the quotas of its cgroups allow, a
 * quota rounded up; at least 1. root: as above. */
int mt_threads_allowed(const char *root);

/* mt_threads_begin -- the first call of a program that computes. There are then as many threads as are allowed, and a
 * thread that waits for another spins for some 50 microseconds before it sleeps. libgomp's own default is some
 * milliseconds, in which threads that wait take the processor from those that they wait for wherever there is other
 * work. libgomp reads its settings when a program is loaded: where they are missing, this call sets them and starts
 * the program again. OMP_NUM_THREADS, OMP_WAIT_POLICY and GOMP_SPINCOUNT of the user's stay as they are. */
void mt_threads_begin(char **argv);

MT_C_END
