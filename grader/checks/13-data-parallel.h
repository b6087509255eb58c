/* 13-data-parallel.h -- the checks of lab 13: structs of their rows, and the functions that run them. */
#pragma once

#include "checks/13-network.h"

/* ---- collectives: 13-collectives.c (values), 13-messages.c (messages, times, faults) ---------------------- */

typedef enum ranks_about {
    RANKS_VALUES,
    RANKS_UNEVEN,   /* parts of different sizes, empty ones, no elements at all */
    RANKS_TYPES,    /* every type but f32 */
    RANKS_ROOTS,    /* every root */
    RANKS_BITS,     /* all ranks have the same bits, after sums that are rounded */
    RANKS_MESSAGES, /* how many, from whom to whom, of how many bytes */
    RANKS_TIME,     /* by the law */
    RANKS_FAILS,    /* each message of each rank fails once */
    RANKS_CHANGED,  /* each message of each rank brings another number once */
    RANKS_FAR,      /* more than 2^32 elements */
} ranks_about;

typedef struct ranks_case {
    mg_case head;
    const char *function;
    ranks_about about;
    int op; /* an mt_reduce */
} ranks_case;

void mg_13_ranks(mg_run *run, const void *one_case); /* a ranks_case */

typedef enum collective {
    RING_REDUCE_SCATTER,
    RING_ALL_GATHER,
    RING_ALL_REDUCE,
    TREE_BROADCAST,
    TREE_ALL_REDUCE,
    DOUBLING_ALL_REDUCE,
    CHOSEN_ALL_REDUCE, /* one of those, by the communication thread */
    HIERARCHICAL_ALL_REDUCE,
} collective;

enum { RANKS_SUM, RANKS_MAX }; /* as mt_reduce */

/* One call on all ranks. */
typedef struct trial {
    collective what;
    int ranks, root, op;
    int node; /* ranks of a node; 0: there are none */
    int64_t n;
    mt_dtype dtype;
    bool wild;                   /* sums are rounded: numbers of very different sizes */
    bool searched;               /* for memory that ranks share */
    int64_t fault, who, message; /* MG_FAULT_* */
    mg_network network;          /* by which the thread chooses */
    void *data[MG_RANKS];        /* before the call */
    const void *got[MG_RANKS];   /* after it */
    const int64_t *result;       /* of each rank: status, operations */
    const char *words;
    mg_deeds deeds[MG_RANKS];
} trial;

/* mg_13_call -- makes the call; false: the run has its verdict. Without a fault, every rank must have succeeded. */
bool mg_13_call(mg_run *run, trial *t);

/* mg_13_judge_values -- whether every rank has what it should have. */
bool mg_13_judge_values(mg_run *run, const trial *t);

bool mg_13_judge_messages(mg_run *run, trial *t);
bool mg_13_judge_time(mg_run *run, trial *t);
void mg_13_fail_each(mg_run *run, const trial *like);
void mg_13_change_each(mg_run *run, const trial *like);

/* mg_13_part -- where part `rank` of n elements begins; part `ranks` begins at n. */
int64_t mg_13_part(const trial *t, int rank);

/* mg_13_source -- whose element i the ranks have in the end, if it is only copied. */
int mg_13_source(const trial *t, int64_t i);

/* mg_13_is_reduction, mg_13_name -- whether it has an op; what messages call it. */
bool mg_13_is_reduction(collective what);
const char *mg_13_name(const trial *t, char words[120]);

/* ---- the choice: 13-choice.c ------------------------------------------------------------------------------- */

/* mg_13_law -- the seconds of an all-reduce of so many bytes over a network; 0 for what is none. */
double mg_13_law(collective what, int ranks, double bytes, mg_network network);

typedef enum choice_about {
    CHOICE_RING,
    CHOICE_TREE,
    CHOICE_DOUBLING,
    CHOICE_HIERARCHY,
    CHOICE_PICK,
    CHOICE_EQUAL,
} choice_about;

typedef struct choice_case {
    mg_case head;
    choice_about about;
} choice_case;

void mg_13_seconds(mg_run *run, const void *one_case);              /* a choice_case */
void mg_13_pick(mg_run *run, const void *one_case);                 /* a choice_case */
void mg_13_chosen(mg_run *run, const void *one_case);               /* a mg_case */
void mg_13_hierarchical_seconds(mg_run *run, const void *one_case); /* a choice_case */
void mg_13_hierarchical_pick(mg_run *run, const void *one_case);    /* a choice_case */
