/* 15-scale.h -- the checks of lab 15: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "worker/plan.h"

/* ---- cost: 15-cost.c, 15-published.c (steps 15.1 to 15.5) ------------------------------------------------------- */

/* What is drawn at random; the rest is 1, 0, none, f32. */
enum {
    VARY_DATA = 1,
    VARY_PIPE = 2,
    VARY_TENSOR = 4,
    VARY_MICRO = 8,
    VARY_ZERO = 16,
    VARY_RECOMPUTE = 32,
    VARY_DTYPE = 64,
    VARY_ROWS = 128, /* a table that is padded by the caller; else by 64 */
    VARY_LONG = 256, /* so many tokens that the head takes chunks */
};

typedef enum cost_part { COST_PARAMS, COST_KEPT, COST_STATE, COST_MEMORY, COST_FLOPS, COST_WIRE } cost_part;

typedef struct cost_case {
    mg_case head;
    cost_part part;
    int vary;
} cost_case;

void mg_15_cost(mg_run *run, const void *one_case);           /* a cost_case */
void mg_15_zero(mg_run *run, const void *one_case);           /* a mg_case, as are the next: bytes a parameter */
void mg_15_published(mg_run *run, const void *one_case);      /* parameters */
void mg_15_published_work(mg_run *run, const void *one_case); /* FLOPs */

typedef enum measured_about {
    MEASURED_STEP,   /* memory of one device */
    MEASURED_HALF,   /* the same in bf16 */
    MEASURED_DATA,   /* messages of data parallelism and ZeRO */
    MEASURED_PIPE,   /* of a pipeline */
    MEASURED_TENSOR, /* of divided matrices */
    MEASURED_ALL,    /* of all three */
} measured_about;

typedef struct measured_case {
    mg_case head;
    measured_about about;
} measured_case;

void mg_15_measured(mg_run *run, const void *one_case); /* a measured_case */

/* ---- planner: 15-planner.c (steps 15.6 to 15.9) ----------------------------------------------------------------- */

typedef enum seconds_about { SECONDS_WORK, SECONDS_LINKS, SECONDS_DATA } seconds_about;

typedef struct seconds_case {
    mg_case head;
    seconds_about about;
} seconds_case;

void mg_15_seconds(mg_run *run, const void *one_case);     /* a seconds_case */
void mg_15_utilisation(mg_run *run, const void *one_case); /* a mg_case */
void mg_15_estimate(mg_run *run, const void *one_case);    /* a mg_case */

typedef enum best_about {
    BEST_FASTEST,
    BEST_CHEAPEST,
    BEST_LIMITS,  /* of memory, days and dollars, close to what there is */
    BEST_COUNT,   /* how many estimates are asked for */
    BEST_LARGE,   /* 175 B parameters, 1,024 devices */
    BEST_REFUSED, /* what is not a problem */
    BEST_NO_MEMORY,
    BEST_NO_DAYS,
    BEST_NO_DOLLARS,
} best_about;

typedef struct best_case {
    mg_case head;
    best_about about;
} best_case;

void mg_15_best(mg_run *run, const void *one_case); /* a best_case */

/* ---- goodput: 15-goodput.c (steps 15.10 and 15.11) -------------------------------------------------------------- */

typedef enum interval_about {
    INTERVAL_RARE,    /* a save is short beside the time between failures */
    INTERVAL_OFTEN,   /* it is about as long, or longer */
    INTERVAL_DEVICES, /* the failures of many devices */
    INTERVAL_NEVER,   /* no failures at all, half of the time */
    STRETCH_EXACT,
    STRETCH_SIMULATED,
} interval_about;

typedef struct interval_case {
    mg_case head;
    interval_about about;
} interval_case;

void mg_15_interval(mg_run *run, const void *one_case); /* an interval_case */
void mg_15_stretch(mg_run *run, const void *one_case);  /* an interval_case */

typedef enum goodput_about {
    GOODPUT_PIECES, /* no stragglers */
    GOODPUT_PARTS,  /* failures and stragglers */
    GOODPUT_SAFE,   /* no failures */
    GOODPUT_SIMULATED,
    GOODPUT_REFUSED,
} goodput_about;

typedef struct goodput_case {
    mg_case head;
    goodput_about about;
} goodput_case;

void mg_15_goodput(mg_run *run, const void *one_case); /* a goodput_case */

/* ---- scheduler: 15-scheduler.c, 15-fairness.c (steps 15.12 to 15.14) -------------------------------------------- */

typedef enum sched_about {
    SCHED_MIXED,    /* large and small jobs */
    SCHED_GANGS,    /* most want more than half of the cluster */
    SCHED_PRIORITY, /* priorities are worth some seconds */
    SCHED_EARLY,    /* jobs end before their estimates */
    SCHED_REFUSED,
} sched_about;

typedef struct sched_case {
    mg_case head;
    sched_about about;
    int policy; /* a mt_sched_policy */
} sched_case;

void mg_15_sched(mg_run *run, const void *one_case);    /* a sched_case */
void mg_15_fairness(mg_run *run, const void *one_case); /* a mg_case */

/* ---- cluster and training: 15-cluster.c, 15-train.c (steps 15.15 to 15.18) --------------------------------------- */

typedef enum cluster_about {
    CLUSTER_TASKS,    /* computations and moments */
    CLUSTER_TIES,     /* everything takes whole seconds: many events at once */
    CLUSTER_MANY,     /* what many tasks cost */
    CLUSTER_MESSAGES, /* on links that are not shared */
    CLUSTER_SHARED,
    CLUSTER_SLOW,
    CLUSTER_WIDE, /* of several devices in step, slow ones too */
    CLUSTER_FAILS,
    CLUSTER_REFUSED,
    CLUSTER_STEPS, /* what many steps cost */
} cluster_about;

typedef struct cluster_case {
    mg_case head;
    cluster_about about;
} cluster_case;

void mg_15_cluster(mg_run *run, const void *one_case); /* a cluster_case */
void mg_15_laws(mg_run *run, const void *one_case);    /* a mg_case */
void mg_15_ranks(mg_run *run, const void *one_case);   /* a mg_case */
void mg_15_train(mg_run *run, const void *one_case);   /* a cluster_case */
void mg_15_costs(mg_run *run, const void *one_case);   /* a cluster_case */
