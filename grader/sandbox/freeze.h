/* freeze.h -- stop a sandboxed program, and read its processor time from outside. */
#pragma once

#include "sandbox/sandbox.h"

/* Processor time in a stopped program: more than its last switches take in a virtual machine. */
#define MG_AWAKE_SECONDS 1e-3

/* mg_program -- the pid, as we see it, of the program in the sandbox; 0 when there is not exactly one. */
pid_t mg_program(const mg_process *process);

/* mg_freeze -- stop all threads of a program, so that none can write while we read. A thread stops when it gets a
 * processor, which can take long on a busy machine. */
typedef enum mg_frozen {
    MG_FROZEN,   /* all were seen stopped */
    MG_UNFROZEN, /* it has ended, or does not stop within seconds */
    MG_STARVED   /* it got no processor for minutes */
} mg_frozen;
mg_frozen mg_freeze(pid_t program);
void mg_thaw(pid_t program);

/* mg_spread -- give every thread of a frozen program a processor of its own, when it may use as many as it has threads;
 * and give it priority over other programs if that is allowed. */
void mg_spread(pid_t program);

/* mg_cpu_seconds -- processor time used so far by all its threads; 0 when it has ended. */
double mg_cpu_seconds(pid_t program);

/* mg_waited_seconds -- time its threads were ready to run but had no processor; 0 when the kernel does not say. */
double mg_waited_seconds(pid_t program);

/* mg_kill_below -- kill all that a process has started, and not the process. */
void mg_kill_below(pid_t process);

/* mg_tree_seconds -- processor time used so far by a process and all that it has started, as far as they are there or
 * were waited for. */
double mg_tree_seconds(pid_t process);

/* mg_tree_waited -- time that their threads were ready to run but had no processor; of those that are there. */
double mg_tree_waited(pid_t process);
