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

static mt_cluster cluster_of(const mg_value *v, mt_cluster_tasks *tasks)
{
    const int64_t *n = I64(cluster), *in = n + MG_CLUSTER_INSIDE, *net = n + MG_CLUSTER_NETWORK;
    *tasks = (mt_cluster_tasks){ .task = ARRAY(tasks)->ptr,
                                 .count = ARRAY(tasks)->count / MG_TASK_COLUMNS,
                                 .after = I64(after),
                                 .afters = ARRAY(after)->count };
    return (mt_cluster){ .devices = n[MG_CLUSTER_DEVICES],
                         .machine = n[MG_CLUSTER_MACHINE],
                         .inside = { number(in), number(in + 1), number(in + 2) },
                         .network = { number(net), number(net + 1), number(net + 2) },
                         .slow = ARRAY(slow)->ptr,
                         .slows = ARRAY(slow)->count / 4,
                         .failure = ARRAY(failures)->ptr,
                         .failures = ARRAY(failures)->count / 2 };
}

void mg_call_cluster_run(const mg_value *v)
{
    mt_cluster_tasks tasks;
    mt_cluster cluster = cluster_of(v, &tasks);
    mt_cluster_outcome out = { 0 };
    double begin = number(&I64(cluster)[MG_CLUSTER_BEGIN]);
    I64(status, failed)[0] = mt_cluster_run(&out, ARRAY(ends)->ptr, &cluster, &tasks, begin);
    I64(status, failed)[1] = out.failed;
    memcpy(I64(end), &out.end, sizeof out.end);
    snprintf((char *)U8(words), (size_t)ARRAY(words)->count, "%s",
             I64(status, failed)[0] == MT_OK ? "" : mt_last_error());
}

void mg_call_cluster_train(const mg_value *v)
{
    mt_cluster_tasks tasks;
    mt_cluster cluster = cluster_of(v, &tasks);
    mt_cluster_trained out = { .walked = MG_15_UNCHANGED };
    mt_cluster_job job;
    memcpy(&job, I64(job), sizeof job);
    I64(status, walked)[0] = mt_cluster_train(&out, &cluster, &tasks, &job);
    I64(status, walked)[1] = out.walked;
    memcpy(I64(run), &out.time, sizeof out.time);
    snprintf((char *)U8(words), (size_t)ARRAY(words)->count, "%s",
             I64(status, walked)[0] == MT_OK ? "" : mt_last_error());
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
    mt_cluster_tasks *tasks = many_tasks(N(tasks));
    mt_cluster_job job = { N(steps), 10, 1, 1 };
    mt_cluster cluster = { N(tasks), 8, { 0, 1, 1 }, { 0, 1, 1 }, slow, job.steps ? 2 : 0, NULL, 0 };
    mt_cluster_outcome out;
    mt_cluster_trained trained;
    mt_status status =
        job.steps ? mt_cluster_train(&trained, &cluster, tasks, &job) : mt_cluster_run(&out, NULL, &cluster, tasks, 0);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    mt_cluster_tasks_free(tasks);
}
