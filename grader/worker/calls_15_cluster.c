/* calls_15_cluster.c -- how the worker calls the units cluster.c and train.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/train.h"
#include "worker/calls_15.h"
#include "worker/cluster.h"

static double number(const int64_t *bits)
{
    double x;
    memcpy(&x, bits, sizeof x);
    return x;
}

/* cluster; slow; failures; tasks; after: from value `from` on */
static mt_cluster cluster_of(const mg_value *v, mt_cluster_tasks *tasks, int from)
{
    const int64_t *n = v[from].i64s, *in = n + MG_CLUSTER_INSIDE, *net = n + MG_CLUSTER_NETWORK;
    *tasks = (mt_cluster_tasks){ .task = v[from + 3].ptr,
                                 .count = v[from + 3].count / MG_TASK_COLUMNS,
                                 .after = v[from + 4].i64s,
                                 .afters = v[from + 4].count };
    return (mt_cluster){ .devices = n[MG_CLUSTER_DEVICES],
                         .machine = n[MG_CLUSTER_MACHINE],
                         .inside = { number(in), number(in + 1), number(in + 2) },
                         .network = { number(net), number(net + 1), number(net + 2) },
                         .slow = v[from + 1].ptr,
                         .slows = v[from + 1].count / 4,
                         .failure = v[from + 2].ptr,
                         .failures = v[from + 2].count / 2 };
}

/* status, failed [2]; end; ends [n]; words; cluster, slow, failures, tasks, after */
void mg_call_cluster_run(const mg_value *v)
{
    mt_cluster_tasks tasks;
    mt_cluster cluster = cluster_of(v, &tasks, 4);
    mt_cluster_outcome out = { 0 };
    double begin = number(&v[4].i64s[MG_CLUSTER_BEGIN]);
    v[0].i64s[0] = mt_cluster_run(&out, v[2].ptr, &cluster, &tasks, begin);
    v[0].i64s[1] = out.failed;
    memcpy(v[1].ptr, &out.end, sizeof out.end);
    snprintf((char *)v[3].u8, (size_t)v[3].count, "%s", v[0].i64s[0] == MT_OK ? "" : mt_last_error());
}

/* status, walked [2]; run [8] bits; words; job [4]; cluster, slow, failures, tasks, after */
void mg_call_cluster_train(const mg_value *v)
{
    mt_cluster_tasks tasks;
    mt_cluster cluster = cluster_of(v, &tasks, 4);
    mt_cluster_trained out = { .walked = MG_15_UNCHANGED };
    mt_cluster_job job;
    memcpy(&job, v[3].ptr, sizeof job);
    v[0].i64s[0] = mt_cluster_train(&out, &cluster, &tasks, &job);
    v[0].i64s[1] = out.walked;
    memcpy(v[1].ptr, &out.time, sizeof out.time);
    snprintf((char *)v[2].u8, (size_t)v[2].count, "%s", v[0].i64s[0] == MT_OK ? "" : mt_last_error());
}

/* n computations at once, each on a device of its own, all different. */
static mt_cluster_tasks *many_tasks(int64_t n)
{
    mt_cluster_tasks *tasks = mt_cluster_tasks_new();
    for (int64_t i = 0; i < n; i++)
        mt_cluster_compute(tasks, i, 1 + (double)(i * 7919 % n) / (double)n, NULL, 0);
    return tasks;
}

/* tasks, steps; 0: one run without a job. What the run costs is counted by worker/traffic.c. */
void mg_call_cluster_costs(const mg_value *v)
{
    const mt_cluster_slow slow[] = { { 0, 2000, 6000, 2 }, { 0, 9000, 13000, 3 } }; /* many steps each, and between */
    mt_cluster_tasks *tasks = many_tasks(v[0].i64);
    mt_cluster_job job = { v[1].i64, 10, 1, 1 };
    mt_cluster cluster = { v[0].i64, 8, { 0, 1, 1 }, { 0, 1, 1 }, slow, job.steps ? 2 : 0, NULL, 0 };
    mt_cluster_outcome out;
    mt_cluster_trained trained;
    mt_status status =
        job.steps ? mt_cluster_train(&trained, &cluster, tasks, &job) : mt_cluster_run(&out, NULL, &cluster, tasks, 0);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    mt_cluster_tasks_free(tasks);
}
