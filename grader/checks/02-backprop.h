/* 02-backprop.h -- the checks of lab 02: its kernels, and the functions that run its other rows. */
#pragma once

#include "checks/kernel.h"
#include "checks/oracle.h"

/* 02-kernels.c */
extern const mg_kernel mg_02_linear_fwd, mg_02_linear_bwd, mg_02_softmax_fwd, mg_02_softmax_bwd,
    mg_02_cross_entropy_fwd, mg_02_cross_entropy_bwd, mg_02_relu_fwd, mg_02_relu_bwd, mg_02_relu_bwd_of_x,
    mg_02_sigmoid_fwd, mg_02_sigmoid_bwd, mg_02_tanh_fwd, mg_02_tanh_bwd, mg_02_gelu_fwd, mg_02_gelu_bwd,
    mg_02_gelu_tanh_fwd, mg_02_gelu_tanh_bwd;
extern const mg_special mg_02_far[], mg_02_far_to_infinity[], mg_02_far_cubed[], mg_02_far_cubed_slope[],
    mg_02_softmax_edges[], mg_02_far_logits[], mg_02_negative_logits[], mg_02_wrong_labels[];

typedef struct init_case {
    mg_case head;
    bool xavier;
} init_case;

/* 02-init.c */
void mg_02_init(mg_run *run, const void *one_case);

/* 02-mlp.c */
void mg_02_mlp_forward(mg_run *run, const void *one_case);
void mg_02_mlp_backward(mg_run *run, const void *one_case);
void mg_02_mlp_sgd(mg_run *run, const void *one_case);
void mg_02_train(mg_run *run, const void *one_case);
