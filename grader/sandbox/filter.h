/* filter.h -- which system calls a sandboxed program may make, as a seccomp program that bubblewrap or
 * landlock.c loads. */
#pragma once

#include "core/base.h"

#include <sys/types.h>

typedef enum mg_filter {
    MG_FILTER_WORKER,   /* an allow-list: memory, threads, pipes, clocks; all else fails with EPERM */
    MG_FILTER_DEVICE,   /* the same, with the timers by which the emulator ends a kernel */
    MG_FILTER_COMPILER, /* a deny-list: no network, tracing, keys, namespaces, mounts, kernel interfaces */
} mg_filter;

/* mg_filter_open -- a descriptor (close-on-exec, at offset 0) holding the program; -1 with mt_last_error. A worker's
 * allows signals to the process `self` only; 0: to all, for a worker that sees no other. */
int mg_filter_open(mg_filter filter, pid_t self);
