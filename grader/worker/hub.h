/* hub.h -- how the checks of lab 13 learn what a unit asks of a communicator: collectives of the worker's own, on a
 * simulated clock, of which each call is a row of numbers.
 *
 * Collective k of all ranks begins when the last of them has called it and k - 1 has ended, and takes latency +
 * bytes * byte_time, where bytes are those of its n elements. It has the values of the moment of the call, and its
 * result arrives when the rank waits for it: what is sent too early, or read too early, is wrong. */
#pragma once

enum { MG_HUB_ROWS = 96, MG_HUB_RANKS = 67, MG_HUB_DEADLINE = 1000 /* seconds */, MG_HUB_AT_ONCE = 1000 };

/* The columns of a row; times in nanoseconds from the beginning. */
enum {
    MG_HUB_KIND, /* as mt_collective_kind */
    MG_HUB_N,
    MG_HUB_DTYPE,
    MG_HUB_OP,
    MG_HUB_AT, /* where its input begins, in bytes from the beginning of the rank's array; -1: elsewhere */
    MG_HUB_CALLED,
    MG_HUB_WAITED, /* when the wait for it returned; -1: nobody has waited */
    MG_HUB_LATE,   /* 1: called although the rank had been told that one before it failed */
    MG_HUB_COLUMNS,
};

/* The numbers of a call. */
enum {
    MG_HUB_LATENCY, /* nanoseconds */
    MG_HUB_BYTE_TIME,
    MG_HUB_FAILS, /* the collective that fails on all ranks, from 0; -1: none. MG_HUB_AT_ONCE + k: number k, and before
                     it has begun: no handle comes back, and nobody waits */
    MG_HUB_NUMBERS,
};

/* A call of data parallel training: its numbers follow those of the hub. */
enum {
    MG_DDP_LIMIT = MG_HUB_NUMBERS, /* bytes of a bucket */
    MG_DDP_MICRO,
    MG_DDP_STEPS,
    MG_DDP_FORWARD, /* nanoseconds before each step's first gradient */
    MG_DDP_HELD,    /* the parameter that is held: its gradient is doubled after the last backward; -1: none */
    MG_DDP_NUMBERS,
};

/* One of sharded training. */
enum {
    MG_ZERO_LIMIT = MG_HUB_NUMBERS, /* bytes of a bucket */
    MG_ZERO_STAGE,
    MG_ZERO_STEPS,
    MG_ZERO_ADAM, /* 1: AdamW, and MG_ZERO_BYTES is noted; 0: momentum */
    MG_ZERO_NUMBERS,
};

enum {
    MG_ZERO_STATUS,
    MG_ZERO_CALLS,  /* collectives of the steps */
    MG_ZERO_HAS,    /* gradients after the last step */
    MG_ZERO_BYTES,  /* of all ranks' tensors, after the last step */
    MG_ZERO_CLOSED, /* how often of two parameters that were read together one was gone, or elsewhere */
    MG_ZERO_OPEN,   /* most buckets of parameters with memory while one is gathered, in stage 3 */
    MG_ZERO_RESULTS
};
enum { MG_DDP_STATUS, MG_DDP_CALLS, MG_DDP_BEGAN, MG_DDP_ENDED, MG_DDP_RESULTS };
