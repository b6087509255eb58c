/* cluster.h -- a simulator: what a training run would do on a cluster that is not there. Computations, messages,
 * slow devices, failures and checkpoints are events in virtual time, with the same result in every run.
 *
 *     mt_cluster_tasks *tasks = mt_cluster_tasks_new();
 *     int64_t work = mt_cluster_compute(tasks, 0, 1.5, NULL, 0);        // device 0 computes for 1.5 s,
 *     mt_cluster_send(tasks, 0, 1, 4096, &work, 1);                     // then sends 4096 bytes to device 1
 *     mt_cluster cluster = mt_cluster_of(&problem);                     // links from the planner's table
 *     mt_cluster_outcome outcome;
 *     double ends[2];
 *     if (mt_cluster_run(&outcome, ends, &cluster, tasks, 0) != MT_OK)
 *         puts(mt_last_error());
 *     mt_cluster_tasks_free(tasks);
 *
 * Times are seconds from 0 on. Nothing is drawn at random: slow devices and failures are lists.
 * Unit: solutions/15-scale/cluster.c. Given: plan/tasks.c, plan/gpt2_tasks.c */
#pragma once

#include "plan/planner.h"

MT_C_BEGIN

/* ---- the cluster ------------------------------------------------------------------------------------------------- */

typedef struct mt_cluster_link {
    double latency; /* seconds of a message, >= 0 */
    double each;    /* bytes/s of one transfer at most, > 0 */
    double all;     /* bytes/s of all transfers on it together, > 0; INFINITY: they do not disturb each other */
} mt_cluster_link;

/* From begin to end (INFINITY is allowed) computations of a device take `factor` times as long. */
typedef struct mt_cluster_slow {
    int64_t device;
    double begin, end, factor; /* 0 <= begin < end, 1 <= factor < INFINITY */
} mt_cluster_slow;

typedef struct mt_cluster_failure {
    double time; /* >= 0 */
    int64_t device;
} mt_cluster_failure;

/* Device d is in machine d / machine. A transfer inside of a machine uses the machine's `inside`: all = INFINITY for
 * NVLink, the bandwidth of the bus for PCIe. One to another machine uses two links that are like `network`: that out of
 * its machine and that into the other one. Its latency is paid once. */
typedef struct mt_cluster {
    int64_t devices; /* 1 .. MT_CLUSTER_MOST */
    int64_t machine; /* devices of a machine, >= 1; the last one may have fewer */
    mt_cluster_link inside, network;
    const mt_cluster_slow *slow; /* [slows] in order of device, then begin; those of a device do not overlap */
    int64_t slows;
    const mt_cluster_failure *failure; /* [failures] in order of time */
    int64_t failures;
} mt_cluster;

enum { MT_CLUSTER_MOST = 1 << 20 };

/* mt_cluster_of -- the problem's device and devices: `each` is the device's link or network, `all` INFINITY; no slow
 * devices, no failures. Given. */
mt_cluster mt_cluster_of(const mt_plan_problem *problem);

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* A computation, a transfer, or a moment at which all of some tasks have ended. `width` neighbours, device .. device +
 * width - 1, may do the same in step: a computation then goes at the pace of the slowest of them, and a transfer is one
 * from each of them to its counterpart. */
typedef struct mt_cluster_task {
    int64_t device;       /* which computes or sends; -1: a moment */
    int64_t to;           /* which receives; -1: no transfer */
    int64_t width;        /* >= 1 */
    double seconds;       /* of a computation at full speed, >= 0 */
    int64_t bytes;        /* sent by each of the width devices, >= 0 */
    int64_t messages;     /* that carry them, one after the other: each costs a latency; >= 0 */
    int64_t first, after; /* of the list of tasks that must have ended before: `after` of them from `first` on */
} mt_cluster_task;

typedef struct mt_cluster_tasks {
    mt_cluster_task *task; /* [count] */
    int64_t count, room;
    int64_t *after; /* [afters] tasks */
    int64_t afters, afters_room;
} mt_cluster_tasks;

typedef struct mt_cluster_outcome {
    double end;     /* of the last task, `begin` if there is none; or the second of the failure */
    int64_t failed; /* the device that failed; -1: all tasks have ended */
    int64_t events; /* how many were handled */
} mt_cluster_outcome;

/* mt_cluster_run -- all tasks, from second `begin` on; ends[i]: the second at which task i ends.
 *
 *   Ready. A task is ready at `begin` if it is after no other, else when the last of those has ended.
 *   Queues. A device has three: it computes one task at a time, sends one, and receives one. A task that is ready joins
 *   the queue of its (first) device, a transfer joins two: that of its sender and that of its receiver. It begins when
 *   it is the first of all its queues, and leaves them when it ends. So no task waits for one that became ready later.
 *   Computations. `seconds` of work, which a device does at speed 1, or 1 / factor while it is slow.
 *   Transfers. First messages * latency, in which they use no link; then `bytes` at a rate that changes as other
 *   transfers begin and end: on a link a transfer has min(each, all / number of transfers on it), and on two links
 *   the smaller of these rates. One of width w counts w times, but not more often than its machine has devices from
 *   `device` (or from `to`) on.
 *   Order. Among events at the same second (a task becomes ready, begins to use its links, or ends), that of the task
 *   with the smaller index is first. So the order of tasks decides who is first in a queue, and nothing else.
 *   Failures. At the first failure, from `begin` on, of a device that has a task, all stop. Tasks that end at that
 *   second have ended; ends[i] of the others is INFINITY.
 *
 * ends may be NULL. Fails: MT_ERR_ARGUMENT, with *out and ends unchanged, what mt_cluster_check refuses.
 * Lab 15.15-17 */
mt_status mt_cluster_run(mt_cluster_outcome *out, double *ends, const mt_cluster *cluster,
                         const mt_cluster_tasks *tasks, double begin);

/* mt_cluster_next_failure -- the first one, not before `second`, of a device that a task is on; NULL: there is none.
 * Lab 15.17 */
const mt_cluster_failure *mt_cluster_next_failure(const mt_cluster *cluster, const mt_cluster_tasks *tasks,
                                                  double second);

/* ---- given: plan/tasks.c ----------------------------------------------------------------------------------------- */

mt_cluster_tasks *mt_cluster_tasks_new(void);
void mt_cluster_tasks_free(mt_cluster_tasks *tasks); /* NULL is allowed */

/* mt_cluster_add -- its number, from 0 on; `first` and `after` are set: tasks after [n] must have ended before, -1
 * means nothing. */
int64_t mt_cluster_add(mt_cluster_tasks *tasks, mt_cluster_task task, const int64_t *after, int n);

static inline int64_t mt_cluster_compute(mt_cluster_tasks *tasks, int64_t device, double seconds, const int64_t *after,
                                         int n)
{
    return mt_cluster_add(tasks, (mt_cluster_task){ device, -1, 1, seconds, 0, 0, 0, 0 }, after, n);
}

static inline int64_t mt_cluster_send(mt_cluster_tasks *tasks, int64_t from, int64_t to, int64_t bytes,
                                      const int64_t *after, int n)
{
    return mt_cluster_add(tasks, (mt_cluster_task){ from, to, 1, 0, bytes, 1, 0, 0 }, after, n);
}

static inline int64_t mt_cluster_join(mt_cluster_tasks *tasks, const int64_t *after, int n)
{
    return mt_cluster_add(tasks, (mt_cluster_task){ -1, -1, 1, 0, 0, 0, 0, 0 }, after, n);
}

/* mt_cluster_check -- MT_ERR_ARGUMENT, with what is wrong: a link without bandwidth, a negative time, a device that is
 * not there (of a task, a failure, a slow time), lists out of order, tasks that wait for each other (and which). */
mt_status mt_cluster_check(const mt_cluster *cluster, const mt_cluster_tasks *tasks, double begin);

/* mt_cluster_uses -- whether a task is on the device. */
bool mt_cluster_uses(const mt_cluster_tasks *tasks, int64_t device);

MT_C_END
