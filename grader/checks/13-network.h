/* 13-network.h -- the operations of all ranks, as the worker noted them (worker/ranks.h), run again on a network of the
 * checker's: how long they take, and who waits for whom. */
#pragma once

#include "check.h"
#include "worker/ranks.h"

typedef int64_t mg_op[MG_OP_COLUMNS];

typedef struct mg_network {
    double latency, byte_time; /* a message of b bytes takes latency + b * byte_time seconds */
} mg_network;

/* Ranks in nodes of so many neighbours: a message between two of a node takes what `inside` says. */
typedef struct mg_nodes {
    int size; /* 0: there are none */
    mg_network inside;
} mg_nodes;

/* What a rank did. */
typedef struct mg_deeds {
    const mg_op *op;
    int64_t ops;
    double work[2];                          /* seconds of a forward, of a backward */
    int64_t sends, sent, receives, received; /* messages and bytes */
    double ends;                             /* when it has made its last operation */
    int64_t waits;                           /* the operation in which it waits for ever; -1: none */
} mg_deeds;

/* mg_13_replay -- runs the operations of all ranks: a rank sends one message at a time and receives one at a time, a
 * message begins when both have begun it, and but for work nothing else takes time. The seconds until the last rank has
 * ended. */
double mg_13_replay(mg_deeds *deeds, int ranks, mg_network network);
double mg_13_replay_in_nodes(mg_deeds *deeds, int ranks, mg_network network, mg_nodes nodes);

/* mg_13_describe -- what each call of ranks begins with: its outputs "status, operations", "words" and "operations",
 * and its numbers MG_CALL_*, which are returned. mg_13_operations -- how many operations of a rank there is room for:
 * an all-reduce has 2 (P - 1) messages in each direction, each with a wait. */
int64_t *mg_13_describe(mg_run *run, const char *function, int ranks);
int64_t mg_13_operations(int ranks);

/* mg_13_deeds -- what each rank did, of at most so many operations; false: FAIL, no rank can have done that.
 * mg_13_is_possible -- whether the rows can be what rank did: the worker also contains the unit. */
bool mg_13_deeds(mg_run *run, mg_deeds *deeds, int ranks, int64_t most);
bool mg_13_is_possible(const mg_deeds *d, int rank, int ranks, int64_t most);

/* mg_13_arrays -- the array of each rank, to be filled before the call. mg_13_arrays_after -- after it. */
void mg_13_arrays(mg_run *run, void **array, int ranks, mt_dtype dtype, int64_t n);
void mg_13_arrays_after(mg_run *run, const void **array, int ranks, mt_dtype dtype, int64_t n);

/* mg_13_stops -- whether a rank has returned its first failure, and done nothing after it. */
bool mg_13_stops(mg_run *run, const char *name, const mg_deeds *deeds, int rank, int64_t status);

/* mg_13_say_deadlock -- the ranks that wait for ever, in words. mg_13_hint_deadlock -- what their messages have in
 * common: one rank alone waits for one that has ended, sends wait for receives that come later, or others. */
void mg_13_say_deadlock(char *words, size_t size, const mg_deeds *deeds, int ranks);
void mg_13_hint_deadlock(mg_run *run, const mg_deeds *deeds, int ranks);
