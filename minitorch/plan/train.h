/* train.h -- a training run on a simulated cluster: many steps, with slow devices, failures and checkpoints.
 *
 *     mt_cluster cluster = mt_cluster_of(&problem);            // links from the planner's table; change what differs
 *     mt_cluster_tasks *step = mt_cluster_tasks_new();
 *     mt_cluster_job job = { .steps = 10000, .interval = 100, .save = 60, .restart = 300 };
 *     mt_cluster_trained run;
 *     if (mt_cluster_step(step, &problem, &strategy, 16) != MT_OK ||   // the tasks of one step: plan/gpt2_tasks.h
 *         mt_cluster_train(&run, &cluster, step, &job) != MT_OK)
 *         puts(mt_last_error());
 *     ... run.time.seconds, run.time.share ...                 // and dollars: devices * seconds / 3600 * price
 *     mt_cluster_tasks_free(step);
 *
 * Unit: solutions/15-scale/train.c */
#pragma once

#include "plan/cluster.h"
#include "plan/goodput.h"

MT_C_BEGIN

typedef struct mt_cluster_job {
    int64_t steps;    /* >= 1, each of them all tasks; a step begins when all tasks of the one before have ended */
    int64_t interval; /* steps from one save to the next, and a save at the end; 0: only that one */
    double save;      /* seconds of a save, >= 0; nobody works meanwhile, slow devices do not slow it down */
    double restart;   /* seconds from a failure until the run goes on, >= 0; other failures before that, or at the same
                       * time as the first, do not count */
} mt_cluster_job;

typedef struct mt_cluster_trained {
    mt_goodput time; /* work: the steps at full speed; waiting: what slow devices add to the steps that last */
    int64_t walked;  /* steps that were simulated, each counted every time */
    int64_t events;  /* events of these steps. All other steps were known to take as long as a simulated one */
} mt_cluster_trained;

/* mt_cluster_train -- a run of job->steps. A failure of a device that has a task, also during a save, loses everything
 * since the last save that was complete (or the begin): after `restart` seconds the run goes on from there.
 * Simulated are only: one step at full speed; each step during which a device of a task changes its speed or fails; and
 * after each change the first other one, if a device is slow then. Time and memory depend on how often something
 * changes, not on steps. A change or a failure at the second at which a step or a save ends is not in it.
 * seconds = work + waiting + saving + lost + restarting; less, if slow devices change the order of tasks so that a step
 * becomes shorter: it waits for 0 s.
 * Fails: as mt_cluster_run; MT_ERR_ARGUMENT: no steps, a negative interval or time.   Lab 15.18 */
mt_status mt_cluster_train(mt_cluster_trained *out, const mt_cluster *cluster, const mt_cluster_tasks *tasks,
                           const mt_cluster_job *job);

MT_C_END
