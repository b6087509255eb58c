/* 14-model-parallel.h -- the checks of lab 14: structs of their rows, and the functions that run them. */
#ifndef MG_CHECKS_14_MODEL_PARALLEL_H
#define MG_CHECKS_14_MODEL_PARALLEL_H

#include "check.h"
#include "checks/13-network.h"
#include "dist/pipe.h"
#include "worker/pipe.h"

/* ---- meshes: 14-mesh.c --------------------------------------------------------------------------------------- */

typedef enum mesh_about {
    MESH_AXES,    /* three axes of different extents */
    MESH_ONE,     /* extents of 1 */
    MESH_REFUSED, /* another number of ranks */
    MESH_FAILS,   /* a split fails */
} mesh_about;

typedef struct mesh_case {
    mg_case head;
    mesh_about about;
} mesh_case;

void mg_14_mesh(mg_run *run, const void *one_case); /* a mesh_case */

/* ---- schedules: 14-schedule.c ---------------------------------------------------------------------------------- */

typedef enum schedule_about {
    SCHEDULE_TIME, /* complete, in order, and as fast as the law */
    SCHEDULE_LIVE, /* how many micro-batches are live in each rank */
    SCHEDULE_FEW,  /* one stage; fewer micro-batches than stages; what is refused */
    SCHEDULE_BOOK, /* 4 stages, 8 micro-batches */
} schedule_about;

typedef struct schedule_case {
    mg_case head;
    mt_pipe_kind kind;
    schedule_about about;
} schedule_case;

void mg_14_schedule(mg_run *run, const void *one_case); /* a schedule_case */

/* ---- the division of layers: 14-partition.c ---------------------------------------------------------------------- */

typedef enum partition_about {
    PARTITION_BRUTE, /* random costs, against every division */
    PARTITION_TIES,  /* equal costs, and zeros */
    PARTITION_LARGE, /* many layers; sums up to 2^62 */
    PARTITION_EDGES, /* one stage, a layer a stage, fewer layers than stages */
} partition_about;

typedef struct partition_case {
    mg_case head;
    partition_about about;
} partition_case;

void mg_14_partition(mg_run *run, const void *one_case); /* a partition_case */

/* ---- the run of a pipeline: 14-pipe.c, 14-pipe-judge.c (time, messages), 14-pipe-values.c ----------------------- */

typedef enum pipe_about {
    PIPE_LOSS,
    PIPE_MESSAGES, /* order of actions, number and bytes of messages, what is received ahead */
    PIPE_TIME,
    PIPE_FAILS,   /* each message of each rank fails once */
    PIPE_REFUSED, /* pipelines that do not exist */
    PIPE_GRADIENTS,
    PIPE_AGAIN, /* several steps */
    PIPE_LIVE,
    PIPE_BOOK, /* 4 stages, 8 micro-batches: time and live micro-batches */
} pipe_about;

typedef struct pipe_case {
    mg_case head;
    pipe_about about;
} pipe_case;

void mg_14_pipe(mg_run *run, const void *one_case); /* a pipe_case */
void mg_14_tied(mg_run *run, const void *one_case); /* a pipe_case; the first and the last part share a table */

/* One call on all ranks. */
typedef struct pipe_trial {
    mt_pipe_kind kind;
    int ranks, micro, chunks, steps;
    bool tied;
    int64_t fault, who, message; /* MG_FAULT_* */
    int64_t rows, width[MG_PIPE_PARTS + 1];
    const float *data;          /* of every rank before the call: weights, table, samples (worker/pipe.h) */
    const float *got[MG_RANKS]; /* after it */
    const int64_t *status;      /* of each rank: status, operations */
    const int64_t *result;      /* of each rank: MG_PIPE_RESULTS */
    const char *words;
    mg_deeds deeds[MG_RANKS];
} pipe_trial;

/* mg_14_pipe_name -- what messages call it. */
const char *mg_14_pipe_name(const pipe_trial *t);

/* mg_14_actions -- by the contract of the schedule: out [2 * micro * chunks], and how many there are. */
int mg_14_actions(const pipe_trial *t, int stage, mt_pipe_action *out);

bool mg_14_judge_loss(mg_run *run, const pipe_trial *t);
bool mg_14_judge_gradients(mg_run *run, const pipe_trial *t);
bool mg_14_judge_order(mg_run *run, const pipe_trial *t);
bool mg_14_judge_messages(mg_run *run, pipe_trial *t);
bool mg_14_judge_live(mg_run *run, const pipe_trial *t);

/* mg_14_judge_time -- a forward takes 1 / chunks units, a backward twice that, and a message `transfer`: the step takes
 * `want` units, or, with 0, what the schedule takes if each message begins when its contents are there. */
bool mg_14_judge_time(mg_run *run, pipe_trial *t, double transfer, double want);

#endif
