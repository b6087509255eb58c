/* 10-tower.h -- what a tower of blocks of GPT-2 gives (steps 10.2 to 10.4): for 10-recompute.c. */
#pragma once

#include "checks/answer.h"
#include "checks/oracle_gpt2.h"

typedef struct tower {
    const int64_t *setting;
    mg_gpt2 g;
    int64_t n, per_layer;
    double *x, *params;
    const float *dout;
} tower;

/* mask [n]: 0 where layer l drops in its pass-th draw, else what it multiplies by. */
void mg_10_mask(double *mask, const int64_t *setting, int64_t l, int64_t pass, int64_t n);

/* The tower's result, gradients of x and of its parameters, which are `part` in each layer. */
void mg_10_expect(mg_answer answer[3], tower *t, const mg_gpt2_part *part);
