/* gpt2_tasks.h -- what the units of labs 13 and 14 do, and with them a training step, as tasks of a simulated cluster
 * (plan/cluster.h). A message begins when its sender has called mt_send and its receiver mt_recv, as in dist/threads.h.
 */
#pragma once

#include "dist/collectives.h"
#include "parallel/pipe.h"
#include "plan/cluster.h"

MT_C_BEGIN

/* mt_cluster_all_reduce -- as ring.c or tree.c does it, message by message. rank [size] devices; last [size]: the task
 * after which each rank takes part (-1: at once), then the one after which it has the result. bytes = elements of
 * `size_of` bytes, of which ranks have unequal parts. */
void mt_cluster_all_reduce(mt_cluster_tasks *tasks, mt_algorithm algorithm, const int64_t *rank, int size,
                           int64_t elements, int64_t size_of, int64_t *last);

/* mt_cluster_hierarchy -- the same for MT_HIERARCHICAL, of nodes of so many neighbours in rank, of which size is a
 * multiple. */
void mt_cluster_hierarchy(mt_cluster_tasks *tasks, const int64_t *rank, int size, int node, int64_t elements,
                          int64_t size_of, int64_t *last);

/* mt_cluster_pipeline -- a step of parallel/pipe.h. Seconds are those of a micro-batch in one chunk of a rank. */
typedef struct mt_cluster_pipe {
    mt_pipe_kind kind;
    int stages, micro, chunks;
    int64_t width;                    /* of each rank */
    const int64_t *rank;              /* [stages] devices */
    const double *forward, *backward; /* [stages] seconds */
    int64_t bytes;                    /* of a micro-batch between two stages, */
    int64_t tied;                     /* that first and last stage exchange at the end; 0: nothing */
} mt_cluster_pipe;

/* last [stages]: the task after which each rank begins (-1: at once), then its last one. Fails: as mt_pipe_schedule. */
mt_status mt_cluster_pipeline(mt_cluster_tasks *tasks, const mt_cluster_pipe *pipe, int64_t *last);

/* mt_cluster_step -- a training step of a strategy, with the costs of cost.h and the seconds of planner.h; the rank of
 * a device is its number (parallel/mesh.h). Each replica runs 1F1B; the messages of a tensor group are part of its
 * computations, its ranks are neighbours of one width. Gradients go around a ring: with one stage in so many `buckets`
 * during the last backward, else after it.
 * Fails: MT_ERR_ARGUMENT: mt_plan_refuses it; buckets < 1; more ranks than the problem has devices. */
mt_status mt_cluster_step(mt_cluster_tasks *tasks, const mt_plan_problem *problem, const mt_plan_strategy *strategy,
                          int64_t buckets);

MT_C_END
