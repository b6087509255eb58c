/* 15-scale.h -- the checks of lab 15: structs of their rows, and the functions that run them. */
#ifndef MG_CHECKS_15_SCALE_H
#define MG_CHECKS_15_SCALE_H

#include "check.h"

/* ---- cost: 15-cost.c (steps 15.1 to 15.5) ---------------------------------------------------------------------- */

typedef enum cost_about {
    COST_PARAMETERS,
    COST_COPIES, /* in bf16 */
    COST_FLOPS,
} cost_about;

typedef struct cost_case {
    mg_case head;
    cost_about about;
} cost_case;

void mg_15_cost(mg_run *run, const void *one_case); /* a cost_case */

#endif
