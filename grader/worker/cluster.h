/* cluster.h -- the numbers by which worker and checker know a cluster, and an experiment with real ranks on a simulated
 * clock. Seconds and rates are the bits of doubles. */
#pragma once

enum {
    MG_CLUSTER_DEVICES,
    MG_CLUSTER_MACHINE,
    MG_CLUSTER_INSIDE, /* latency, each, all */
    MG_CLUSTER_NETWORK = MG_CLUSTER_INSIDE + 3,
    MG_CLUSTER_BEGIN = MG_CLUSTER_NETWORK + 3,
    MG_CLUSTER_NUMBERS,
};

enum { MG_TASK_COLUMNS = 8 }; /* as a mt_cluster_task is in memory */

/* What the ranks of an experiment do. */
enum {
    MG_RANKS_COLLECT, /* an all-reduce by some algorithm; each rank begins at its own second */
    MG_RANKS_PIPE,    /* a step of a pipeline in each replica, then an all-reduce of each stage */
    MG_RANKS_BUCKETS, /* backward in pieces, after each of which an all-reduce of its bucket begins */
};

enum {
    MG_REAL_ABOUT,
    MG_REAL_SIZE,     /* ranks; stages of each replica */
    MG_REAL_REPLICAS, /* 1, if it is not a pipeline */
    MG_REAL_KIND,     /* algorithm, or schedule */
    MG_REAL_MICRO,    /* micro-batches, or buckets */
    MG_REAL_CHUNKS,
    MG_REAL_ELEMENTS, /* of an all-reduce */
    MG_REAL_ACTIVE,   /* floats between two parts */
    MG_REAL_TIED,     /* floats that the ends exchange; 0: none */
    MG_REAL_LATENCY,
    MG_REAL_BYTE_TIME,
    MG_REAL_SLOW,    /* this rank computes slower */
    MG_REAL_FACTOR,  /* so many times */
    MG_REAL_SECONDS, /* [8] of each rank or stage: until it begins; of a forward; of a backward's piece */
    MG_REAL_NUMBERS = MG_REAL_SECONDS + 8,
};
