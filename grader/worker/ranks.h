/* ranks.h -- how the checks of labs 13 and 14 learn what ranks do: each operation of a rank is a row of numbers.
 *
 * The unit's communicator is one of the worker, which notes each message when it begins and when somebody has waited
 * for it, and passes it on to dist/threads.h. Messages take no time there: the checker has a network of its own, on
 * which the rows are run again (checks/13-network.h). A blocking call is a begin and a wait. The messages of a
 * communicator that the unit splits off are noted, too. Few ranks have an array each, between inaccessible pages; more
 * ranks have equal parts of one. */
#pragma once

enum {
    MG_RANKS = 67,
    MG_RANKS_APART = 8, /* with an array each */
    MG_RANKS_OPS = 640, /* of one rank, at most: a call has room for as many as its output of operations */
    MG_RANKS_WORDS = 160,
    MG_RANKS_DEADLINE = 1, /* seconds: after that a rank that waits for ever gets an error */
};

/* The columns of a row. */
enum {
    MG_OP_KIND,
    MG_OP_PEER,  /* a wait: the row in which its message began */
    MG_OP_BYTES, /* not of a wait, and so the next one */
    MG_OP_AT,    /* where its buffer begins, in bytes from the beginning of the rank's array; negative: elsewhere */
    MG_OP_STATUS,
    MG_OP_COMM, /* of a message: 0: the communicator that the unit got, 1: the first that was split, ... */
    MG_OP_COLUMNS,
};

enum { MG_OP_SEND, MG_OP_RECV, MG_OP_WAIT, MG_OP_WORK };

/* The columns of a row of work, a part of a pipeline for one micro-batch. */
enum { MG_WORK_BACKWARD = MG_OP_PEER, MG_WORK_MICRO, MG_WORK_CHUNK, MG_WORK_LIVE = MG_OP_COMM };

/* The numbers of a call. */
enum {
    MG_CALL_N, /* elements of the array of a rank */
    MG_CALL_DTYPE,
    MG_CALL_OP,
    MG_CALL_ROOT,
    MG_CALL_FAULT,
    MG_CALL_WHO, /* the rank that the fault is in, and its message: */
    MG_CALL_MESSAGE,
    MG_CALL_LATENCY, /* by which the communicator chooses its algorithm: the bits of doubles */
    MG_CALL_BYTE_TIME,
    MG_CALL_NODE, /* ranks of a node; 0: there are none */
    MG_CALL_NUMBERS,
};

enum {
    MG_FAULT_NONE,
    MG_FAULT_FAILS,   /* that message fails when it begins; sends and receives are counted together */
    MG_FAULT_CHANGES, /* of what that receive brings, the i32 in the middle is one more than was sent */
    MG_FAULT_NO_DATA, /* messages carry nothing, and the array is an address only: for more bytes than there are */
};
