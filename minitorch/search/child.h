/* child.h -- a command in a process group of its own, which ends at the latest when this process does, even by
 * kill -9. */
#pragma once

#include <sys/types.h>

#include "core/base.h"

MT_C_BEGIN

/* mt_child_start -- /bin/sh -c command; its output goes to the file `log` (replaced), its input is empty. The variable
 * OMP_NUM_THREADS is set to `threads` unless it is set. Descriptors without O_CLOEXEC are inherited. */
mt_status mt_child_start(pid_t *child, const char *command, const char *log, int64_t threads);

/* mt_child_ended -- has it? Then its whole group is gone, and *status is that of waitpid. */
bool mt_child_ended(pid_t child, int *status);

/* mt_child_kill -- kill its group. mt_child_ended must still be called. */
void mt_child_kill(pid_t child);

/* mt_child_wait -- return when a child has ended, a signal has come, or after so many seconds. */
void mt_child_wait(double seconds);

MT_C_END
