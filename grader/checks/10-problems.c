/* 10-problems.c -- blocks and budgets for the choice of options (step 10.5): few and thousands, equal and random, with
 * numbers that a double cannot tell apart. */
#include "checks/10-choose.h"
#include "checks/fill.h"

/* Random blocks: work is `heavy` times as large as what is kept. */
static choose_problem random_blocks(mt_rng *rng, int64_t blocks, int64_t most, int64_t heavy)
{
    choose_problem p = { .blocks = blocks };
    for (int64_t i = 0; i < blocks; i++) {
        p.block[i].options = (int)mg_pick(rng, 2, MT_MEMORY_OPTIONS);
        for (int k = 0; k < p.block[i].options; k++)
            p.block[i].option[k] =
                (mt_memory_option){ mg_pick(rng, 0, most), mg_pick(rng, 0, heavy * most), mg_pick(rng, 0, most) };
    }
    return p;
}

/* A transformer's: everything is kept, or the inputs of elementwise ops are not, or only the block's input is. */
static choose_problem equal_blocks(mt_rng *rng, int64_t blocks)
{
    int64_t C = mg_pick(rng, 8, 24), H = mg_pick(rng, 1, 4), rest = H + 4, inside = 5 * C;
    choose_problem p = { .blocks = blocks };
    for (int64_t i = 0; i < blocks; i++)
        p.block[i] = (mt_memory_block){ .options = 3,
                                        .option = { { 16 * C + rest, inside, 0 },
                                                    { 10 * C + rest, inside + 4 * C, 20 * C },
                                                    { C, 15 * C + rest + inside, 24 * C * C + 40 * C } } };
    return p;
}

/* So many budgets: the least, some of the next bytes, then evenly up to what the first options need and one more. */
static void spread_budgets(choose_problem *p, int64_t budgets)
{
    int64_t least = mg_10_least(p), option[MG_10_BLOCKS] = { 0 },
            most = mt_max(mg_10_evaluate(p, option).peak, least) + 1;
    p->budgets = budgets;
    for (int64_t n = 0; n < budgets; n++)
        p->budget[n] = n < budgets / 4 ? least + n : least + (most - least) / (budgets - 1) * n;
    p->budget[budgets - 1] = most;
}

/* Budgets that some random choice needs exactly, and one byte less. */
static void exact_budgets(mt_rng *rng, choose_problem *p)
{
    p->budgets = MG_10_BUDGETS;
    for (int64_t n = 0; n < MG_10_BUDGETS; n += 2) {
        int64_t option[MG_10_BLOCKS];
        for (int64_t i = 0; i < p->blocks; i++)
            option[i] = mt_rng_below(rng, p->block[i].options);
        p->budget[n] = mg_10_evaluate(p, option).peak;
        p->budget[n + 1] = p->budget[n] - 1;
    }
}

/* Sums that a double cannot tell apart; budgets too. above_62: all budgets and FLOPs are above 2^62. */
static choose_problem large_numbers(mt_rng *rng, bool above_62)
{
    choose_problem p = random_blocks(rng, 4, 5, 1);
    int64_t most = above_62 ? mt_rng_below(rng, p.blocks) : -1;
    for (int64_t i = 0; i < p.blocks; i++)
        for (int k = 0; k < p.block[i].options; k++) {
            mt_memory_option *o = &p.block[i].option[k];
            o->kept += o->kept / 3 * ((INT64_C(1) << 58) + (INT64_C(1) << 31)); /* the lower half has another order */
            o->work += INT64_C(1) << (i == most ? 62 : 57);
            o->flops += (INT64_C(1) << 60) + (most < 0 ? 0 : INT64_C(1) << 59);
        }
    exact_budgets(rng, &p);
    return p;
}

static choose_problem nothing(mt_rng *rng, bool no_blocks)
{
    choose_problem p = random_blocks(rng, no_blocks ? 0 : mg_pick(rng, 1, MG_10_FEW), 30, 2);
    for (int64_t b = 0; b < p.blocks; b++)
        p.block[b].options = 1;
    spread_budgets(&p, 4);
    p.budget[0] = mg_10_least(&p) - 1;
    return p;
}

/* Every number of bytes up to the sum is the best choice of some budget: 2^12 states behind the last block. */
static choose_problem binary_blocks(void)
{
    choose_problem p = { .blocks = 12 };
    for (int64_t i = 0; i < p.blocks; i++)
        p.block[i] =
            (mt_memory_block){ .options = 2, .option = { { INT64_C(1) << i, 0, 0 }, { 0, 0, INT64_C(1) << i } } };
    return p;
}

/* Only one of all sums of FLOPs is of use; the others are different. The option with fewer is neither the first nor the
 * last: a table that keeps the others has 2^i states behind block i, and is out of time or memory. */
static choose_problem equal_kept(void)
{
    choose_problem p = { .blocks = 48 };
    for (int64_t i = 0; i < p.blocks; i++) {
        const mt_memory_option more = { 10, 0, INT64_C(1) << i };
        p.block[i] = (mt_memory_block){ .options = 3, .option = { more, { 10, 0, 0 }, more } };
    }
    return p;
}

/* Thousands of blocks, with so little room that there are few states behind each. */
static choose_problem thousands(mt_rng *rng)
{
    choose_problem p = random_blocks(rng, mg_pick(rng, 2000, MG_10_BLOCKS), 3, 1);
    p.budgets = 2;
    p.budget[0] = mg_10_least(&p) + mg_pick(rng, 0, 9);
    p.budget[1] = p.budget[0] + 40;
    return p;
}

choose_problem mg_10_problem(mt_rng *rng, choose_about about, int64_t is)
{
    choose_problem p;
    switch (about) {
    case CHOOSE_SMALL:
    case CHOOSE_BEYOND:
        p = random_blocks(rng, mg_pick(rng, 1, 6), mg_pick(rng, 3, 16), 1);
        break;
    case CHOOSE_WORK:
        p = random_blocks(rng, mg_pick(rng, 1, 6), mg_pick(rng, 3, 9), 6);
        break;
    case CHOOSE_PLACE:
        p = equal_blocks(rng, mg_pick(rng, 2, MG_10_FEW));
        break;
    case CHOOSE_MANY:
        if (is == CHOOSE_THOUSANDS)
            return thousands(rng);
        p = is == CHOOSE_SAME_KEPT ? equal_kept()
            : is == CHOOSE_BINARY  ? binary_blocks()
                                   : random_blocks(rng, is ? is - CHOOSE_BLOCKS : mg_pick(rng, 10, 24), 40, 3);
        break;
    case CHOOSE_EQUAL:
        p = equal_blocks(rng, is - CHOOSE_BLOCKS);
        break;
    case CHOOSE_LARGE:
        return large_numbers(rng, is == CHOOSE_ABOVE_62);
    case CHOOSE_NOTHING:
        return nothing(rng, is == CHOOSE_NO_BLOCKS);
    default:
        p = random_blocks(rng, mg_pick(rng, 1, 6), 1000000, 1);
        exact_budgets(rng, &p);
        return p;
    }
    spread_budgets(&p, p.blocks <= MG_10_FEW ? MG_10_BUDGETS : 12);
    for (int64_t n = 0; n < p.budgets && about == CHOOSE_BEYOND; n++)
        p.budget[n] = mg_10_least(&p) - 1 - n / 2;
    return p;
}
