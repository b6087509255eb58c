/* 15-world.h -- clusters and tasks for the checks of the simulator (15-cluster.c) and of training (15-train.c). */
#pragma once

#include "checks/15-events.h"
#include "checks/15-scale.h"

enum { MG_15_WORDS = 300 }; /* bytes of what a call says */

/* A cluster and its tasks, with room for both. `is` and `tasks` point to the lists behind them. */
typedef struct mg_15_world {
    mt_cluster is;
    mt_cluster_slow slow[MG_EVENTS_LIST];
    mt_cluster_failure failure[MG_EVENTS_LIST];
    mt_cluster_task task[MG_EVENTS_TASKS];
    int64_t after[MG_EVENTS_AFTER];
    mt_cluster_tasks tasks;
    double begin;
} mg_15_world;

/* mg_15_put_world -- as the last five inputs of a call. mg_15_add_task -- a random one, after some of those before. */
void mg_15_put_world(mg_run *run, const mg_15_world *w);
void mg_15_add_task(mg_15_world *w, mt_rng *rng, cluster_about about);
