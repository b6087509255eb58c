/* 13-training.h -- the checks of the second half of lab 13: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"

/* ---- buckets and data parallel training: 13-buckets.c, 13-ddp.c ---------------------------------------------- */

typedef enum plan_about {
    BUCKETS_ANY,   /* also parameters without elements */
    BUCKETS_EXACT, /* limits that are met exactly, or missed by one */
    BUCKETS_EACH,  /* each parameter alone */
    BUCKETS_ONE,   /* all together */
} plan_about;

typedef struct buckets_case {
    mg_case head;
    plan_about about;
} buckets_case;

void mg_13_buckets(mg_run *run, const void *one_case);      /* a buckets_case */
void mg_13_zero_part(mg_run *run, const void *one_case);    /* a mg_case */
void mg_13_zero_overlap(mg_run *run, const void *one_case); /* a mg_case */

typedef struct mg_bucket {
    int64_t first, last, begin, end; /* as mt_bucket */
} mg_bucket;

/* mg_13_divide -- the law of step 13.6: the number of buckets; out [count], begin [count + 1]. */
int64_t mg_13_divide(mg_bucket *out, const int64_t *begin, int64_t count, int64_t limit);

/* mg_13_differ -- which collective is not the same on all ranks, from the output "rows" of a call; static memory. */
const char *mg_13_differ(mg_run *run, int64_t ranks);

typedef enum ddp_about {
    DDP_START,   /* parameters */
    DDP_BATCH,   /* one micro-batch, as many samples on each rank */
    DDP_MICRO,   /* several micro-batches */
    DDP_UNEVEN,  /* other numbers of samples, none on some ranks */
    DDP_SENDS,   /* how many collectives, and of what */
    DDP_ORDER,   /* gradients are complete in another order on each rank */
    DDP_EARLY,   /* when buckets are sent */
    DDP_EXPOSED, /* how long a step takes */
    DDP_UNUSED,  /* parameters that some ranks, or all, do not use */
    DDP_AGAIN,   /* the second step, with other gradients of which some are missing */
    DDP_FAILS,   /* a collective fails */
} ddp_about;

typedef struct ddp_case {
    mg_case head;
    ddp_about about;
} ddp_case;

void mg_13_ddp(mg_run *run, const void *one_case); /* a ddp_case */

/* ---- sharded training: 13-zero.c --------------------------------------------------------------------------- */

typedef enum zero_about {
    ZERO_STEPS,
    ZERO_UNUSED, /* parameters that some ranks do not use */
    ZERO_BYTES,
    ZERO_CLIP,
    ZERO_NOT_FINITE, /* a gradient of one rank in the first step */
    ZERO_FAILS,      /* a collective fails */
    ZERO_MEMORY,     /* bytes of a rank, with AdamW; parts of equal length */
} zero_about;

typedef struct zero_case {
    mg_case head;
    zero_about about;
    int stage; /* 0: any */
} zero_case;

void mg_13_zero(mg_run *run, const void *one_case); /* a zero_case */

/* ---- compression, and the step after local training: 13-compress.c, 13-topk.c, 13-local.c ------------------- */

enum { MG_13_MANY = 2200000 /* floats: more than a stack has room for */ };

typedef enum compress_about {
    COMPRESS_FIRST, /* no error so far */
    COMPRESS_AGAIN, /* with what was not sent before */
    COMPRESS_TIES,  /* zeros; equal sizes */
    COMPRESS_SIZES,
    COMPRESS_BYTES,
} compress_about;

typedef struct compress_case {
    mg_case head;
    compress_about about;
} compress_case;

void mg_13_onebit_pack(mg_run *run, const void *one_case);   /* a compress_case */
void mg_13_onebit_unpack(mg_run *run, const void *one_case); /* a mg_case */
void mg_13_onebit(mg_run *run, const void *one_case);        /* a compress_case */
void mg_13_topk_pack(mg_run *run, const void *one_case);     /* a compress_case */
void mg_13_topk(mg_run *run, const void *one_case);          /* a compress_case */

typedef enum outer_about {
    OUTER_MEAN, /* no momentum */
    OUTER_MOMENTUM,
    OUTER_LATE,
} outer_about;

typedef struct outer_case {
    mg_case head;
    outer_about about;
} outer_case;

void mg_13_outer(mg_run *run, const void *one_case); /* an outer_case */

/* ---- a parameter server: 13-server.c, 13-order.c --------------------------------------------------------------- */

typedef enum server_about {
    SERVER_VALUES,
    SERVER_MESSAGES,
    SERVER_TIME,    /* as long as the events say */
    SERVER_FAILS,   /* each message of each rank fails once */
    SERVER_CHANGED, /* each message of each rank brings another number once */
    ORDER_SPEEDS,   /* no bound */
    ORDER_BOUND,
    ORDER_EQUAL, /* pushes at the same time */
} server_about;

typedef struct server_case {
    mg_case head;
    server_about about;
} server_case;

void mg_13_server(mg_run *run, const void *one_case);       /* a server_case */
void mg_13_server_order(mg_run *run, const void *one_case); /* a server_case */
