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

/* status; runs [n,2]; changes [1 + 3 room]; words; jobs [n,6]; cluster [3] */
void mg_call_sched(const mg_value *v)
{
    int64_t n = v[4].count / 6;
    mt_sched_cluster cluster = { v[5].i64s[0], (mt_sched_policy)v[5].i64s[1], v[5].i64s[2] };
    record r = { v[2].i64s, 0, (v[2].count - 1) / 3 };
    r.to[0] = 0;
    for (int64_t i = 0; i < v[1].count; i++)
        v[1].i64s[i] = MG_15_UNCHANGED;
    v[0].i64s[0] = mt_sched((mt_sched_run *)v[1].ptr, (const mt_sched_job *)v[4].ptr, n, &cluster, note, &r);
    snprintf((char *)v[3].u8, (size_t)v[3].count, "%s", v[0].i64s[0] == MT_OK ? "" : mt_last_error());
}

/* fairness [1], slowdown [1], bits; x [n] bits; job, run */
void mg_call_sched_fairness(const mg_value *v)
{
    double index, slowdown;
    mt_sched_job job;
    mt_sched_run run;
    memcpy(&job, v[3].ptr, sizeof job);
    memcpy(&run, v[4].ptr, sizeof run);
    index = mt_sched_fairness(v[2].ptr, v[2].count);
    slowdown = mt_sched_slowdown(&job, &run);
    memcpy(v[0].ptr, &index, sizeof index);
    memcpy(v[1].ptr, &slowdown, sizeof slowdown);
}
