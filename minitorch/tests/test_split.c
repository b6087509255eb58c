/* test_split.c -- a set in two parts: every sample in one of them, the same ones for a seed, prefetched by their
 * numbers in the whole set. */
#include <criterion/criterion.h>

#include "aborts.h"
#include "fake_set.h"

enum { COUNT = 300, HELD = 100 };

static int64_t asked[COUNT], asks, calls;

static void note(const mt_dataset *set, const int64_t *index, int64_t count)
{
    (void)set;
    calls++;
    for (int64_t k = 0; k < count; k++)
        asked[asks++ % COUNT] = index[k];
}

/* The number in the whole set of a part's sample, which is its label. */
static int32_t number(const mt_dataset *part, int64_t i)
{
    float x[4];
    int32_t y;
    mt_rng rng = mt_rng_new(1, MT_STREAM_AUGMENT);
    cr_assert_eq(mt_dataset_get(part, i, &rng, x, &y), MT_OK);
    cr_assert(x[0] == (float)y && rng.counter > 0, "the random numbers are the caller's");
    return y;
}

Test(split, each_sample_is_in_one_part)
{
    fake_set set = fake_set_of(COUNT);
    mt_dataset *part[2], *again[2], *other[2];
    int seen[COUNT] = { 0 }, front = 0, moved = 0;
    mt_dataset_split(&part[0], &part[1], &set.base, HELD, 7);
    mt_dataset_split(&again[0], &again[1], &set.base, HELD, 7);
    mt_dataset_split(&other[0], &other[1], &set.base, HELD, 8);
    cr_assert(part[0]->count == COUNT - HELD && part[1]->count == HELD && !part[0]->soon);
    for (int p = 0; p < 2; p++)
        for (int64_t i = 0; i < part[p]->count; i++) {
            seen[number(part[p], i)]++;
            cr_assert(i == 0 || number(part[p], i - 1) < number(part[p], i), "in the order of the set");
            cr_assert_eq(number(again[p], i), number(part[p], i));
            moved += number(other[p], i) != number(part[p], i);
            front += p && number(part[p], i) < COUNT / 2;
        }
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(seen[i], 1, "sample %d: %d times", i, seen[i]);
    cr_assert_gt(moved, COUNT / 2, "another seed draws others");
    /* Hypergeometric: mean 50, standard deviation 4.1. */
    cr_assert(front > 29 && front < 71, "%d of 100 from the first half", front);
    for (int p = 0; p < 2; p++)
        mt_dataset_close(part[p]), mt_dataset_close(again[p]), mt_dataset_close(other[p]);
}

Test(split, prefetching_names_the_sets_own_numbers)
{
    fake_set set = fake_set_of(COUNT);
    mt_dataset *others, *held;
    int64_t index[HELD];
    set.base.soon = note;
    mt_dataset_split(&others, &held, &set.base, HELD, 1);
    for (int64_t i = 0; i < HELD; i++)
        index[i] = HELD - 1 - i;
    held->soon(held, index, HELD);
    cr_assert(asks == HELD && calls == 2, "%ld samples in %ld calls", (long)asks, (long)calls);
    for (int64_t i = 0; i < HELD; i++)
        cr_assert_eq(asked[i], number(held, index[i]));
    mt_dataset_close(others);
    mt_dataset_close(held);
}

Test(split, nothing_held_out_is_no_split)
{
    fake_set set = fake_set_of(3);
    mt_dataset *a, *b;
    ABORTS("0 samples held out of 3", mt_dataset_split(&a, &b, &set.base, 0, 1));
    ABORTS("3 samples held out of 3", mt_dataset_split(&a, &b, &set.base, 3, 1));
    mt_dataset_split(&a, &b, &set.base, 2, 1);
    cr_assert(a->count == 1 && b->count == 2);
    mt_dataset_close(a);
    mt_dataset_close(b);
}
