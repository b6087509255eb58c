/* calls_15_scheduler.c -- how the worker calls the unit scheduler.c. */
#include <stdio.h>
#include <string.h>

#include "plan/scheduler.h"
#include "worker/calls_15.h"

typedef struct record {
    int64_t *to, count, room; /* triples: time, job, devices; the first number is how many */
} record;

static void note(void *context, int64_t time, int64_t job, int64_t devices)
{
    record *r = context;
    if (r->count < r->room) {
        r->to[1 + 3 * r->count] = time;
        r->to[2 + 3 * r->count] = job;
        r->to[3 + 3 * r->count] = devices;
    }
    r->to[0] = ++r->count;
}

void mg_call_sched(const mg_value *v)
{
    int64_t n = ARRAY(jobs)->count / 6;
    mt_sched_cluster cluster = { I64(cluster)[0], (mt_sched_policy)I64(cluster)[1], I64(cluster)[2] };
    record r = { I64(changes), 0, (ARRAY(changes)->count - 1) / 3 };
    r.to[0] = 0;
    for (int64_t i = 0; i < ARRAY(runs)->count; i++)
        I64(runs)[i] = MG_15_UNCHANGED;
    I64(status)[0] = mt_sched((mt_sched_run *)I64(runs), (const mt_sched_job *)I64(jobs), n, &cluster, note, &r);
    snprintf((char *)U8(words), (size_t)ARRAY(words)->count, "%s", I64(status)[0] == MT_OK ? "" : mt_last_error());
}

/* fairness [1], slowdown [1], bits; x [n] bits; job, run */
void mg_call_sched_fairness(const mg_value *v)
{
    double index, slowdown;
    mt_sched_job job;
    mt_sched_run run;
    memcpy(&job, I64(job), sizeof job);
    memcpy(&run, I64(run), sizeof run);
    index = mt_sched_fairness(ARRAY(x)->ptr, ARRAY(x)->count);
    slowdown = mt_sched_slowdown(&job, &run);
    memcpy(I64(fairness), &index, sizeof index);
    memcpy(I64(slowdown), &slowdown, sizeof slowdown);
}
