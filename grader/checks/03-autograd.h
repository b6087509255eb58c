/* 03-autograd.h -- the checks of lab 03: the structs of its rows, and the functions that run them (03-run.c, 03-walk.c,
 * 03-whole.c). */
#pragma once

#include "check.h"
#include "checks/03-graph.h"

typedef struct kinds_case {
    mg_case head;
    unsigned some;   /* bits of MG_PLAIN ...: the kinds of inputs */
    unsigned always; /* those that occur at least once, two at most */
    int quiet;       /* mt_no_grad_begin calls around it */
    bool twice;      /* the last input is the first one again */
} kinds_case;

#define KIND(kind) (1u << (kind))

/* What a row compares in a graph; the first difference is reported. */
enum {
    LOOK_GRADS = 1,    /* gradients of the leaves */
    LOOK_VISITS = 2,   /* every node that backward should reach once, no other */
    LOOK_ORDER = 4,    /* every node after all its users */
    LOOK_RECORDED = 8, /* nodes only where a gradient is needed */
    LOOK_NEWS = 16,    /* leaves announced once, when complete */
};

typedef struct graph_case {
    mg_case head;
    mg_graph *(*make)(mg_run *run, int64_t S);
    int looks;
    int passes; /* backward passes over the same leaves */
} graph_case;

typedef struct buffer_case {
    mg_case head;
    int which; /* edge: 0 to a node, 1 to a leaf, 2 to nothing */
    bool held; /* the buffer exists and has a sum */
} buffer_case;

typedef struct misuse_case {
    mg_case head;
    int how;       /* MG_SAME_LOSS_TWICE ... */
    int otherwise; /* a second variant in the same row */
    bool refused, otherwise_refused;
} misuse_case;

mg_graph *mg_03_random(mg_run *run, int64_t S);
mg_graph *mg_03_diamonds(mg_run *run, int64_t S);
mg_graph *mg_03_reused(mg_run *run, int64_t S);
mg_graph *mg_03_cut(mg_run *run, int64_t S);

void mg_03_wants(mg_run *run, const void *one_case);
void mg_03_record(mg_run *run, const void *one_case);
void mg_03_detach(mg_run *run, const void *one_case);
void mg_03_buffer(mg_run *run, const void *one_case);
/* mg_03_buffers_right -- whether mt_grad_of_input is right; false: the run has its verdict. */
bool mg_03_buffers_right(mg_run *run);

void mg_03_graph(mg_run *run, const void *one_case);
void mg_03_long_chain(mg_run *run, const void *one_case);
void mg_03_memory(mg_run *run, const void *one_case);
void mg_03_misuse(mg_run *run, const void *one_case);
