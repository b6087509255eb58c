/* 02-backprop.h -- the checks of lab 02: the structs of its rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "checks/fill.h"
#include "checks/oracle.h"

/* The gradients that a linear backward must compute. */
enum { WANT_DX = 1, WANT_DW = 2, WANT_DB = 4, WANT_ALL = 7 };

typedef struct linear_case {
    mg_case head;
    int64_t N, I, O; /* -1: random */
    bool no_bias;    /* forward */
    int wanted;      /* backward: the others are NULL */
    bool held;       /* backward: gradients are not zero before the call */
} linear_case;

typedef struct act_case {
    mg_case head;
    mg_act act;
    mg_dist dist;  /* of x */
    bool in_place; /* forward: out is x */
    bool use_x;    /* ReLU backward: saved is x, not out */
    bool held;     /* backward: dx is not zero before the call */
} act_case;

typedef struct row_case { /* softmax and cross-entropy */
    mg_case head;
    int64_t N, C; /* -1: random */
    mg_dist dist; /* of the logits */
    bool in_place, held;
    bool far; /* the last call of random values has logits of up to 1.7e38, of either sign */
} row_case;

typedef struct init_case {
    mg_case head;
    bool xavier;
} init_case;

/* 02-edges.c */
bool mg_02_softmax_masked(mg_run *run);
void mg_02_softmax_no_columns(mg_run *run);
void mg_02_wrong_labels(mg_run *run);
void mg_02_softmax_nan(mg_run *run, const void *one_case); /* an mg_case */
bool mg_02_cross_entropy_nan(mg_run *run);
bool mg_02_large(mg_run *run, const char *name, float x, double want, double tolerance);

/* 02-kernels.c */
void mg_02_linear_fwd(mg_run *run, const void *one_case);
void mg_02_linear_bwd(mg_run *run, const void *one_case);
void mg_02_act_fwd(mg_run *run, const void *one_case);
void mg_02_act_bwd(mg_run *run, const void *one_case);
void mg_02_relu_nan(mg_run *run, const void *one_case);
void mg_02_softmax_fwd(mg_run *run, const void *one_case);
void mg_02_softmax_bwd(mg_run *run, const void *one_case);
void mg_02_cross_entropy_fwd(mg_run *run, const void *one_case);
void mg_02_cross_entropy_bwd(mg_run *run, const void *one_case);
void mg_02_init(mg_run *run, const void *one_case);

/* 02-traffic.c */
void mg_02_linear_traffic(mg_run *run, const void *one_case); /* an mg_case */

/* 02-mlp.c */
void mg_02_mlp_forward(mg_run *run, const void *one_case);
void mg_02_mlp_backward(mg_run *run, const void *one_case);
void mg_02_mlp_sgd(mg_run *run, const void *one_case);
void mg_02_train(mg_run *run, const void *one_case);
