/* slot.h -- a job of a sweep as a process: begun, watched, judged. */
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

MT_C_END
