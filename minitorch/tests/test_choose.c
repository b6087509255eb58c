/* test_choose.c -- which blocks are computed again under a budget, against all choices and by hand. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/rng.h"
#include "memory/choose.h"

/* Keep 10 bytes of a block, or 2 and compute it again for 5 FLOPs, which takes the other 8 in backward. */
static const mt_memory_block plain = { .options = 2, .option = { { 10, 1, 0 }, { 2, 9, 5 } } };

static mt_memory_choice chosen(int *option, const mt_memory_block *blocks, int64_t count, int64_t budget)
{
    mt_memory_choice choice;
    cr_assert_eq(mt_memory_choose(&choice, option, blocks, count, budget), MT_OK, "%s", mt_last_error());
    cr_assert(choice.peak <= budget);
    return choice;
}

Test(choose, equal_blocks_by_hand)
{
    const mt_memory_block blocks[] = { plain, plain, plain };
    int option[3];
    mt_memory_choice c = chosen(option, blocks, 3, 31);
    cr_expect(c.peak == 31 && c.kept == 30 && c.flops == 0 && !option[0] && !option[1] && !option[2]);
    c = chosen(option, blocks, 3, 30); /* the last block needs 8 + 1 less when an earlier one is computed again */
    cr_expect(c.flops == 5 && c.kept == 22 && option[0] + option[1] == 1 && option[2] == 0 && c.peak == 23);
    c = chosen(option, blocks, 3, 15); /* the least: 2 + 2 + 10 + 1, the last block has nothing to gain */
    cr_expect(c.flops == 10 && c.peak == 15 && option[0] == 1 && option[1] == 1 && option[2] == 0);
    cr_expect_eq(mt_memory_least(blocks, 3), 15);
}

Test(choose, a_budget_that_is_too_small_is_refused_with_the_least)
{
    const mt_memory_block blocks[] = { plain, plain, plain };
    mt_memory_choice choice = { 7, 7, 7 };
    int option[] = { 7, 7, 7 };
    cr_expect_eq(mt_memory_choose(&choice, option, blocks, 3, 14), MT_ERR_ARGUMENT);
    cr_expect_str_eq(mt_last_error(), "a budget of 14 bytes is too small: the least is 15");
    cr_expect(choice.peak == 7 && choice.flops == 7 && option[0] == 7 && option[2] == 7);
    cr_expect_eq(mt_memory_choose(&choice, option, NULL, 0, -1), MT_ERR_ARGUMENT);
    cr_expect(chosen(option, NULL, 0, 0).peak == 0 && mt_memory_least(NULL, 0) == 0);
}

enum { BLOCKS = 5, OPTIONS = 3 };

/* The fewest FLOPs of all choices within the budget; -1: there is none. */
static int64_t fewest(const mt_memory_block *b, int64_t i, int64_t kept, int64_t budget)
{
    int64_t best = -1;
    if (i == BLOCKS)
        return 0;
    for (const mt_memory_option *o = b[i].option; o < b[i].option + b[i].options; o++) {
        int64_t rest = kept + o->kept + o->work <= budget ? fewest(b, i + 1, kept + o->kept, budget) : -1;
        if (rest >= 0 && (best < 0 || o->flops + rest < best))
            best = o->flops + rest;
    }
    return best;
}

Test(choose, no_choice_has_fewer_flops)
{
    mt_rng rng = mt_rng_new(5, MT_STREAM_INIT);
    for (int t = 0; t < 200; t++) {
        mt_memory_block blocks[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i].options = OPTIONS;
            for (int k = 0; k < OPTIONS; k++)
                blocks[i].option[k] =
                    (mt_memory_option){ mt_rng_below(&rng, 20), mt_rng_below(&rng, 30), mt_rng_below(&rng, 20) };
        }
        int64_t least = mt_memory_least(blocks, BLOCKS);
        cr_assert_eq(fewest(blocks, 0, 0, least - 1), -1);
        for (int64_t budget = least; budget < least + 40; budget++) {
            int option[BLOCKS];
            mt_memory_choice c = chosen(option, blocks, BLOCKS, budget);
            cr_assert_eq(c.flops, fewest(blocks, 0, 0, budget), "budget %lld", (long long)budget);
        }
    }
}
