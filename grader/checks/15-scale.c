/* 15-scale.c -- the rows of lab 15. How they run: 15-cost.c. Steps 15.1 to 15.9 are cost.c and planner.c, from 15.10
 * on cluster.c, goodput.c and scheduler.c. */
#include "checks/15-scale.h"

// clang-format off

/* ---- 15.1 to 15.3 the cost of a step */
static const cost_case parameter_cases[] = {
    { { 1, "of any model", "a layer has four matrices with biases, and two layernorms" }, COST_PARAMETERS },
};
static const cost_case memory_cases[] = {
    { { 1, "copies of weights", "of each layer's four matrices, and of the table" }, COST_COPIES },
};
static const cost_case flops_cases[] = {
    { { 1, "of any model", "two FLOPs a weight and token forward, twice that backward" }, COST_FLOPS },
};

static const mg_group groups[] = {
    MG_GROUP("15.1", "parameters", mg_15_cost, parameter_cases),
    MG_GROUP("15.2", "memory", mg_15_cost, memory_cases),
    MG_GROUP("15.3", "arithmetic", mg_15_cost, flops_cases),
};
// clang-format on

const mg_lab mg_lab_15 = { "15-scale", groups, MT_COUNT(groups) };
