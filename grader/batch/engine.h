/* engine.h -- share out gradings over other machines by a program that can: Slurm, or GNU parallel over ssh.
 *
 * A task grades one submission, as a process of this machine does (`grade_all --task`), in a folder of its own, which
 * is renamed to `ended` in the submission's folder when all is in it: of several tasks of a submission one counts.
 * grader/batch/engine.sh starts the tasks and says which have ended; only the batch writes the gradebook. What `ended`
 * has when a batch begins again is taken as if the task had just ended. */
#pragma once

#include "jobs.h"
#include "progress.h"

#include <stdio.h>

typedef struct mg_engine {
    const char *name;  /* "slurm" or "ssh" */
    const char *hosts; /* ssh: parallel's --sshloginfile */
} mg_engine;

/* The tasks that are with the engine. */
typedef struct mg_tasks {
    pid_t pid; /* engine.sh; 0: it does not run */
    FILE *said;
} mg_tasks;

/* mg_engine_begin -- whether the engine can work here, in words; ends the tasks of a batch that was killed. */
mt_status mg_engine_begin(const mg_engine *engine, const mg_plan *plan);

/* mg_tasks_wait -- wait until a busy job has ended; starts a task for each busy job when the engine does not run. */
mt_status mg_tasks_wait(mg_tasks *tasks, const mg_engine *engine, const mg_plan *plan, mg_job *job, int64_t jobs,
                        mg_progress *progress, mg_job **ended);

/* mg_task -- on another machine: carry out the task that mg_tasks_wait described. */
mt_status mg_task(const mg_plan *plan, const char *task);
