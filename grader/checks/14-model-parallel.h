/* 14-model-parallel.h -- the checks of lab 14: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "checks/13-network.h"
#include "parallel/pipe.h"
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

/* ---- tensor parallel layers: 14-tensor.c ------------------------------------------------------------------------- */

typedef enum tensor_about {
    TENSOR_COPY,
    TENSOR_REDUCE,
    TENSOR_TWICE, /* two uses of x, whose gradients add up */
    TENSOR_VALUES,
    TENSOR_NO_BIAS,
    TENSOR_CALLS, /* collectives, their bytes, their time */
    TENSOR_FAILS, /* a collective fails */
    TENSOR_COLUMNS,
    TENSOR_ROWS,
    TENSOR_HEADS,
    TENSOR_REFUSED,
} tensor_about;

typedef struct tensor_case {
    mg_case head;
    tensor_about about;
} tensor_case;

void mg_14_pair(mg_run *run, const void *one_case); /* a tensor_case, as are the next */
void mg_14_products(mg_run *run, const void *one_case);
void mg_14_shard(mg_run *run, const void *one_case);
void mg_14_layer(mg_run *run, const void *one_case); /* 14-layer.c */

/* mg_14_ranks -- the outputs and numbers that each call of ranks begins with: results, rows. */
void mg_14_ranks(mg_run *run, int64_t ranks);
void mg_14_numbers(mg_run *run, int64_t fails, const int64_t *more, int64_t count);

/* mg_14_call -- the call; searched: the one with RANKS ranks for memory that they share, and that with one rank for
 * memory that its threads share. */
bool mg_14_call(mg_run *run, int64_t ranks, bool searched);

/* What each rank is to call. */
typedef struct tensor_calls {
    int64_t forward, calls, sums, maxima, gathered; /* elements of all-reduces in f32; bytes of its own */
    bool at_most;                                   /* fewer calls with as many elements are right, too */
    int64_t scattered;                              /* elements that reduce-scatters in f32 leave a rank */
} tensor_calls;

/* mg_14_judge_calls -- all ranks have succeeded with these collectives, and in their time. mg_14_judge_failure -- all
 * have failed with collective `fails`, and called nothing afterwards. */
bool mg_14_judge_calls(mg_run *run, int64_t ranks, const tensor_calls *want);
bool mg_14_judge_failure(mg_run *run, int64_t ranks, int64_t fails);

/* ---- vocabularies: 14-vocabulary.c, 14-norm.c ----------------------------------------------------------------- */

typedef enum vocabulary_about {
    VOCABULARY_EVEN,   /* as many rows on each rank */
    VOCABULARY_UNEVEN, /* ranks without rows among them */
    VOCABULARY_FAR,    /* logits of ranks are far from each other */
    VOCABULARY_PADDED, /* rows that belong to no class */
    VOCABULARY_CALLS,
    VOCABULARY_FAILS,
} vocabulary_about;

typedef struct vocabulary_case {
    mg_case head;
    vocabulary_about about;
} vocabulary_case;

void mg_14_range(mg_run *run, const void *one_case);     /* a mg_case */
void mg_14_embedding(mg_run *run, const void *one_case); /* a vocabulary_case, as are the next */
void mg_14_cross_entropy(mg_run *run, const void *one_case);
void mg_14_classifier(mg_run *run, const void *one_case);

typedef enum norm_about {
    NORM_PARTS, /* nothing is replicated */
    NORM_REPLICATED,
    NORM_LARGE, /* squares beyond f32; the same bits */
    NORM_FAILS,
} norm_about;

typedef struct norm_case {
    mg_case head;
    norm_about about;
} norm_case;

void mg_14_norm(mg_run *run, const void *one_case); /* a norm_case */

/* ---- tokens that are divided: 14-sequence.c --------------------------------------------------------------------- */

typedef enum sequence_about {
    SEQUENCE_GATHER,
    SEQUENCE_SCATTER,
    SEQUENCE_TWICE, /* several uses, whose gradients add up */
    SEQUENCE_VALUES,
    SEQUENCE_NO_BIAS,
    SEQUENCE_CALLS,
    SEQUENCE_FAILS,
} sequence_about;

typedef struct sequence_case {
    mg_case head;
    sequence_about about;
} sequence_case;

void mg_14_tokens(mg_run *run, const void *one_case); /* a sequence_case, as is the next */
void mg_14_sequence(mg_run *run, const void *one_case);

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
    PARTITION_LARGE, /* many layers; sums up to 2^63 - 1 */
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

enum { MG_PIPE_WIDE = 140 /* of a part, at most */ };

/* One call on all ranks. */
typedef struct pipe_trial {
    mt_pipe_kind kind;
    int ranks, micro, chunks, steps;
    bool tied, searched, wide;   /* wide: the table has more than 64 KiB */
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
