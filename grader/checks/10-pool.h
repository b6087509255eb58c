/* 10-pool.h -- the rows of steps 10.6 to 10.9: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "worker/pool.h"

/* ---- sizes: 10-pool.c -------------------------------------------------------------------------------- */

typedef enum sizes_about { SIZES_BLOCK, SIZES_KIND, SIZES_SEGMENT } sizes_about; /* which number a row judges */

typedef struct sizes_case {
    mg_case head;
    sizes_about about;
} sizes_case;

void mg_10_sizes(mg_run *run, const void *one_case); /* a sizes_case */

/* ---- scripts: 10-scripts.c ------------------------------------------------------------------------------- */

typedef enum pool_about {
    POOL_REST,      /* equal small blocks fill a segment */
    POOL_BEST_FIT,  /* without frees: only the rests of segments are free */
    POOL_LARGE,     /* rests of about 1 MiB, also of a segment of 2 MiB */
    POOL_KINDS,     /* small and large ones, beside 1 MiB */
    POOL_RIGHT,     /* a freed block has a free right neighbour */
    POOL_LEFT,      /* ... left */
    POOL_BOTH,      /* ... both */
    POOL_APART,     /* segments at neighbouring addresses */
    POOL_WHOLE,     /* all blocks of a segment are freed in any order */
    POOL_ANY,       /* any allocations and frees */
    POOL_TRIM,      /* everything is free */
    POOL_TRIM_USED, /* some segments have used blocks */
    POOL_OUT,       /* memory is out, and free segments have enough */
    POOL_OUT_KINDS, /* ... of the other kind */
    POOL_REFUSED,   /* memory is out, and stays so until blocks are freed */
    POOL_SHORT,     /* any allocations and frees with little memory */
} pool_about;

typedef struct pool_case {
    mg_case head;
    pool_about about;
} pool_case;

void mg_10_pool(mg_run *run, const void *one_case); /* a pool_case */

/* A script: what happens to a pool, and how much memory the system under it has. */
typedef struct pool_script {
    int64_t (*event)[MG_POOL_COLUMNS]; /* grows */
    int64_t n, room, memory;
} pool_script;

/* mg_pool_add -- append an event; returns its number. The caller frees s->event.
 * mg_pool_call -- describe and make the call of this script; results: piece, offset, given, calls, used [n].
 * mg_pool_play -- that, and judge each event by the rules. */
int64_t mg_pool_add(pool_script *s, int64_t action, int64_t with);
bool mg_pool_call(mg_run *run, const pool_script *s);
bool mg_pool_play(mg_run *run, const pool_script *s);

/* ---- training steps: 10-trace.c -------------------------------------------------------------------------- */

typedef struct trace_case {
    mg_case head;
    const char *bar; /* of reserved over used memory; NULL: the calls of the system are counted */
} trace_case;

void mg_10_trace(mg_run *run, const void *one_case); /* a trace_case */
