/* order.h -- the order of a sweep's jobs on several workers, the same whichever job really ends first.
 *
 * Time is counted in steps: a job of n steps that begins at t ends at t + n. What a worker does when it is free is
 * decided by the jobs that have ended by then in this time. So a sweep is a function of its settings and of the jobs'
 * values alone: it can be repeated, killed and continued. Without jobs at all it is a simulation in virtual time.
 *
 *     for (mt_order_event e; (e = mt_order_next(&order)).kind != MT_ORDER_END;)
 *         if (e.kind == MT_ORDER_BEGIN) start job e.job
 *         else                          wait until job e.job has ended; mt_order_tell(&order, its number, ...) */
#pragma once

#include "search/search.h"

MT_C_BEGIN

typedef struct mt_order {
    const mt_search *search; /* borrowed */
    int64_t workers;
    int64_t count;     /* of jobs that began */
    mt_job *job;       /* as the search knows them: RUNNING until the time at which they end is reached */
    mt_job *told;      /* the same with all that is known */
    int64_t *ends;     /* when, in steps */
    int64_t now, cost; /* time; steps of all jobs that began */
} mt_order;

typedef enum mt_order_kind { MT_ORDER_BEGIN, MT_ORDER_WAIT, MT_ORDER_END } mt_order_kind;

typedef struct mt_order_event {
    mt_order_kind kind;
    int64_t job;
} mt_order_event;

mt_order mt_order_new(const mt_search *search, int64_t workers);
void mt_order_free(mt_order *order);

/* mt_order_next -- what happens next: job number `job` begins, or nothing can begin before that job's value is told.
 * At most `workers` jobs have begun without being told. */
mt_order_event mt_order_next(mt_order *order);

/* mt_order_tell -- the end of a job; value: of MT_JOB_DONE, finite. Jobs may be told in any order, each once. */
void mt_order_tell(mt_order *order, int64_t job, mt_job_state state, double value);

MT_C_END
