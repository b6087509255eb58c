/* 14-model-parallel.h -- the checks of lab 14: structs of their rows, and the functions that run them. */
#ifndef MG_CHECKS_14_MODEL_PARALLEL_H
#define MG_CHECKS_14_MODEL_PARALLEL_H

#include "check.h"
#include "dist/pipe.h"

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

#endif
