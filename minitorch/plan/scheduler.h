/* scheduler.h -- which job of a shared cluster runs when, on how many devices: a function of a list of jobs, in virtual
 * seconds. Nothing is random, nothing is rounded, and jobs are never stopped once they run.
 *
 *     mt_sched_cluster cluster = { .devices = 64, .policy = MT_SCHED_BACKFILL, .aging = 3600 };
 *     if (mt_sched(runs, jobs, count, &cluster, NULL, NULL) != MT_OK)
 *         puts(mt_last_error());
 *
 * Sources: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995 (EASY backfilling); Jain, Chiu, Hawe, "A quantitative
 * measure of fairness", DEC-TR-301, 1984. Unit: solutions/15-scale/scheduler.c */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_sched_job {
    int64_t arrival;  /* second, >= 0; not known before */
    int64_t devices;  /* how many it wants, >= 1: a gang, all of them at once or none */
    int64_t least;    /* ELASTIC: the fewest that it runs on, 1 .. devices; other policies give it all */
    int64_t seconds;  /* run time on all its devices, >= 1; known only when it ends */
    int64_t estimate; /* the owner's upper bound on the run time, >= seconds */
    int64_t priority; /* 0 .. 1000 */
} mt_sched_job;

typedef enum mt_sched_policy {
    MT_SCHED_FIFO,     /* the head of the queue waits for its gang, all others wait behind it */
    MT_SCHED_BACKFILL, /* others may start meanwhile if the head, by the estimates, starts no later */
    MT_SCHED_ELASTIC,  /* a job runs with `least` devices, and gets more while there are more */
} mt_sched_policy;

typedef struct mt_sched_cluster {
    int64_t devices; /* >= 1 */
    mt_sched_policy policy;
    int64_t aging; /* seconds of waiting that make up for one priority less, >= 0 */
} mt_sched_cluster;

typedef struct mt_sched_run {
    int64_t start, end; /* seconds */
} mt_sched_run;

/* Called for each change, in order of time: from `time` on the job has so many devices; 0: it has ended. */
typedef void mt_sched_tell(void *context, int64_t time, int64_t job, int64_t devices);

/* mt_sched -- runs[i] of jobs[i]; tell may be NULL. At each second in which something happens, jobs end first, then
 * jobs arrive, then jobs start.
 *   Queue. Job a is before b if its arrival - priority * aging is less; ties: the smaller index. So a job waits for
 *   those that arrive up to 1000 * aging seconds after it, and for no others: none starves.
 *   FIFO. While the first of the queue fits into the free devices, it starts.
 *   BACKFILL. FIFO; then the first that is left has a reservation: the earliest second at which it fits if all running
 *   jobs take as long as estimated. Each other job in the order of the queue starts if it fits into the free devices
 *   and either ends by that second, as estimated, or fits into the devices that the reservation leaves free.
 *   ELASTIC. FIFO with `least` in place of `devices`: a job starts if the devices beyond the `least` of all
 *   running jobs are enough. Then all devices are dealt again: each running job has its `least`; one device after the
 *   other goes to the job with the fewest of those that lack some; ties: the first in the queue. A job ends at the
 *   first second by which it has had seconds * devices device-seconds.
 * Fails: MT_ERR_ARGUMENT, *runs unchanged: an invalid job, or one that wants more devices than there are.
 * Lab 15.12-14 */
mt_status mt_sched(mt_sched_run *runs, const mt_sched_job *jobs, int64_t count, const mt_sched_cluster *cluster,
                   mt_sched_tell *tell, void *context);

/* mt_sched_fairness -- Jain's index of values >= 0: (sum x)^2 / (n sum x^2), 1 if all are equal, 1 / n if one has all.
 * 1: there are none, or all are 0. Values above 0 are 1e-100 to 1e100; x may be the slowdowns of jobs, for example.
 * Lab 15.14 */
double mt_sched_fairness(const double *x, int64_t n);

/* mt_sched_slowdown -- (end - arrival) / seconds of a job: 1 if it waits for nothing.   Lab 15.14 */
double mt_sched_slowdown(const mt_sched_job *job, const mt_sched_run *run);

MT_C_END
