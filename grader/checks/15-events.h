/* 15-events.h -- the checker's own simulator of a cluster: no heap, no queues. At each event it looks at all tasks. */
#pragma once

#include "plan/train.h"

enum { MG_EVENTS_TASKS = 40, MG_EVENTS_AFTER = 100, MG_EVENTS_LIST = 40 };

typedef struct mg_events {
    double ends[MG_EVENTS_TASKS], end;
    int64_t failed;
} mg_events;

/* mg_events_run, mg_events_train -- as mt_cluster_run, mt_cluster_train, of at most MG_EVENTS_TASKS tasks.
 * walked: how many steps have to be simulated (plan/train.h).
 * out->waiting is NAN if slow devices make a step shorter: in another order tasks of several queues may end earlier. */
void mg_events_run(mg_events *out, const mt_cluster *c, const mt_cluster_tasks *tasks, double begin);
void mg_events_train(mt_goodput *out, int64_t *walked, const mt_cluster *c, const mt_cluster_tasks *tasks,
                     const mt_cluster_job *job);
