/* 15-seconds.h -- random problems, and comparisons of what a planner says of them. */
#pragma once

#include "check.h"
#include "plan/planner.h"

/* mg_15_real -- uniform in low .. high. */
double mg_15_real(mt_rng *rng, double low, double high);

/* mg_15_pick_problem -- of some hundred to some thousand strategies, without limits. */
mt_plan_problem mg_15_pick_problem(mt_rng *rng);
void mg_15_put_problem(mg_run *run, const mt_plan_problem *p); /* as the next input of the call */

/* What must be refused, as data: the part's name, and a field of the input with a value that it must not have. */
typedef struct mg_15_wrong {
    const char *part;
    size_t at;
    union {
        int64_t whole;
        double real;
    } value;
} mg_15_wrong;
void mg_15_spoil(mg_run *run, void *input, const mg_15_wrong *wrong); /* NULL: nothing */
// clang-format off
#define MG_15_WRONG(type, part, field, ...) { part, offsetof(type, field), { __VA_ARGS__ } }
// clang-format on

/* mg_15_close_to -- to nine digits. mg_15_same_estimate -- each number of it, or a failure that names one. */
bool mg_15_close_to(double got, double want);
bool mg_15_same_estimate(mg_run *run, const mt_plan_estimate *got, const mt_plan_estimate *want);
