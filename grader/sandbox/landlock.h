/* landlock.h -- confine a process by Landlock and seccomp, without namespaces and without any right: for containers,
 * where bubblewrap cannot make user namespaces. */
#pragma once

#include "sandbox/sandbox.h"

/* mg_landlock_version -- of the kernel's interface; 0 when there is none, or when it is switched off. */
int mg_landlock_version(void);

/* mg_landlock_enter -- from here on the calling process, and the program that it executes, opens only the files and
 * folders that the sandbox lists, signals no process outside (version 6; before: a worker only itself), and makes only
 * the calls of the sandbox's filter. False with errno when the kernel refuses. */
bool mg_landlock_enter(const mg_sandbox *sandbox);
