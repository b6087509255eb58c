/* 10-choose.h -- problems of the choice of options (step 10.5), and what is right for them. */
#pragma once

#include "checks/10-memory.h"
#include "memory/choose.h"

enum {
    MG_10_FEW = 7,       /* blocks whose choices are all tried */
    MG_10_LAYERS = 96,   /* as GPT-3's */
    MG_10_BLOCKS = 2048, /* more than a fixed table of a unit may have */
    MG_10_BUDGETS = 64,
    MG_10_MESSAGE = 200
};

typedef struct choose_problem {
    int64_t blocks, budgets;
    mt_memory_block block[MG_10_BLOCKS];
    int64_t budget[MG_10_BUDGETS];
} choose_problem;

/* mg_10_evaluate -- what a choice of one option for each block needs (10-choose.c). */
mt_memory_choice mg_10_evaluate(const choose_problem *p, const int64_t *option);

/* mg_10_least -- the least budget for which there is a choice. */
int64_t mg_10_least(const choose_problem *p);

/* mg_10_problem -- a problem that a row is about (10-problems.c), and what is special in it; CHOOSE_BLOCKS + n: it has
 * n blocks. */
enum { CHOOSE_ANY, CHOOSE_SAME_KEPT, CHOOSE_BINARY, CHOOSE_THOUSANDS, CHOOSE_ABOVE_62, CHOOSE_NO_BLOCKS };
enum { CHOOSE_BLOCKS = CHOOSE_NO_BLOCKS + 1 };
choose_problem mg_10_problem(mt_rng *rng, choose_about about, int64_t is);
