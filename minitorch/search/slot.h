/* slot.h -- a job of a sweep as a process: its command, and how it is begun, watched, judged. */
#pragma once

#include <sys/types.h>

#include "search/table.h"

MT_C_BEGIN

typedef struct mt_slot {
    int64_t job; /* its number; -1: none runs here */
    pid_t child;
    double started;
    mt_job_end killed; /* MT_END_DONE: it was not */
    bool struck;       /* it has ended by a signal that was not ours, or its command says so (status 128 and more) */
    bool full;         /* it has failed, and its disk is full or its output says so */
    char dir[2048];    /* {dir} of the command */
    char log[2052];    /* its output: DIR.log */
} mt_slot;

/* mt_slot_start -- run the command of a job in a new folder `dir`; what an earlier one left there is removed. */
mt_status mt_slot_start(mt_slot *slot, const char *command, const mt_space *space, int64_t number, const mt_job *job,
                        const char *dir, int64_t threads);

/* mt_slot_ended -- has it, and what is it worth? Before, it is killed when a value of its metrics.csv is not finite, or
 * after `timeout` seconds (0: never). */
bool mt_slot_ended(mt_slot *slot, const char *metric, double timeout, mt_sweep_row *row);

/* mt_slot_stop -- kill it and wait for its end. */
void mt_slot_stop(mt_slot *slot);

/* ---- child.c: a command in a process group of its own, which ends at the latest when this process does, even by
 * kill -9 */

/* mt_child_start -- /bin/sh -c command; its output goes to the file `log` (replaced), its input is empty. The variable
 * OMP_NUM_THREADS is set to `threads` unless it is set. Descriptors without O_CLOEXEC are inherited. */
mt_status mt_child_start(pid_t *child, const char *command, const char *log, int64_t threads);

/* mt_child_ended -- has it? Then its whole group is gone, and *status is that of waitpid. */
bool mt_child_ended(pid_t child, int *status);

/* mt_child_kill -- kill its group. mt_child_ended must still be called. */
void mt_child_kill(pid_t child);

/* mt_child_wait -- return when a child has ended, a signal has come, or after so many seconds. */
void mt_child_wait(double seconds);

/* ---- the command, with placeholders: "train_gpt2 --lr {lr} --steps {steps} -o {dir}" */

enum { MT_COMMAND_BYTES = 8192 };

/* mt_command_check -- every placeholder is known, and every hyperparameter has one; {steps} too, where trials have
 * rungs. MT_ERR_ARGUMENT otherwise. */
mt_status mt_command_check(const char *command, const mt_search *search);

/* mt_command_fill -- {steps}, {trial} (its number), {dir} (a folder, quoted for the shell) and the names of the
 * hyperparameters become values. MT_ERR_ARGUMENT: longer than MT_COMMAND_BYTES. Other braces stay. */
mt_status mt_command_fill(char out[MT_COMMAND_BYTES], const char *command, const mt_space *space, const mt_job *job,
                          const char *dir);

MT_C_END
