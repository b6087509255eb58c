/* test_sampler.c -- every sample once, the same order for the same seed and epoch, ranks that share without overlap. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "data/sampler.h"

static int64_t *order_of(const mt_sampler *sampler, int64_t epoch)
{
    int64_t *order = calloc((size_t)sampler->count + 1, sizeof *order);
    mt_sampler_order(order, sampler, epoch);
    return order;
}

Test(sampler, sequential_order_is_the_sets_own)
{
    mt_sampler s = mt_sampler_sequential(7);
    int64_t *order = order_of(&s, 3);
    for (int64_t i = 0; i < 7; i++)
        cr_assert_eq(order[i], i);
    free(order);
}

Test(sampler, shuffling_is_a_permutation_of_seed_and_epoch)
{
    mt_sampler s = mt_sampler_shuffling(101, 5), other = mt_sampler_shuffling(101, 6);
    int64_t *a = order_of(&s, 4), *again = order_of(&s, 4), *next = order_of(&s, 5), *seed = order_of(&other, 4);
    int seen[101] = { 0 };
    for (int64_t i = 0; i < 101; i++)
        seen[a[i]]++;
    for (int64_t i = 0; i < 101; i++)
        cr_assert_eq(seen[i], 1);
    cr_assert_eq(memcmp(a, again, 101 * sizeof *a), 0);
    cr_assert_neq(memcmp(a, next, 101 * sizeof *a), 0, "epochs 4 and 5 have the same order");
    cr_assert_neq(memcmp(a, seed, 101 * sizeof *a), 0, "seeds 5 and 6 have the same order");
    free(a), free(again), free(next), free(seed);
}

/* Over many epochs all positions of a sample are equally likely. Chi-square with 9 degrees of freedom is below 33.7
 * except for one seed in 10,000, and the seed is fixed. */
Test(sampler, the_first_sample_is_uniform_over_epochs)
{
    enum { N = 10, EPOCHS = 4000 };
    mt_sampler s = mt_sampler_shuffling(N, 1);
    int hits[N] = { 0 };
    double chi = 0;
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        int64_t order[N];
        mt_sampler_order(order, &s, epoch);
        hits[order[0]]++;
    }
    for (int i = 0; i < N; i++)
        chi += (hits[i] - EPOCHS / N) * (hits[i] - EPOCHS / N) / (double)(EPOCHS / N);
    cr_assert_lt(chi, 33.7);
}

/* How often each sample comes when all ranks are put together. */
static void check_ranks(int64_t count, int64_t world, mt_uneven uneven)
{
    int64_t *seen = calloc((size_t)count + 1, sizeof *seen), total = 0, most = 0, least = INT64_MAX;
    int64_t length = mt_sampler_length(&(mt_sampler){ .count = count, .world = world, .uneven = uneven });
    for (int64_t rank = 0; rank < world; rank++) {
        mt_sampler s = mt_sampler_distributed(mt_sampler_shuffling(count, 9), rank, world, uneven);
        int64_t *order = order_of(&s, 2);
        cr_assert_eq(mt_sampler_length(&s), length, "rank %d has a length of its own", (int)rank);
        for (int64_t k = 0; k < length; k++)
            seen[order[mt_sampler_place(&s, k)]]++;
        free(order);
    }
    for (int64_t i = 0; i < count; i++) {
        total += seen[i];
        most = mt_max(most, seen[i]);
        least = mt_min(least, seen[i]);
    }
    cr_assert_eq(total, length * world);
    if (count > 0 && uneven == MT_UNEVEN_PAD)
        cr_assert(least >= 1 && most <= least + 1 && total - count < world, "%d samples, %d ranks", (int)count,
                  (int)world);
    if (uneven == MT_UNEVEN_DROP)
        cr_assert(most <= 1 && count - total < world, "%d samples, %d ranks", (int)count, (int)world);
    free(seen);
}

Test(sampler, ranks_share_without_overlap)
{
    static const int64_t counts[] = { 0, 1, 2, 5, 12, 31, 64, 97 };
    for (int64_t i = 0; i < MT_COUNT(counts); i++) {
        for (int64_t world = 1; world <= 8; world++) {
            check_ranks(counts[i], world, MT_UNEVEN_PAD);
            check_ranks(counts[i], world, MT_UNEVEN_DROP);
        }
    }
}

Test(sampler, batches_cut_the_order_without_a_rest)
{
    for (int64_t count = 0; count <= 12; count++) {
        for (int64_t batch = 1; batch <= 5; batch++) {
            mt_sampler s = mt_sampler_shuffling(count, 3);
            int64_t *order = order_of(&s, 0), index[5], at = 0;
            int64_t steps = mt_sampler_steps(&s, batch, false);
            for (int64_t step = 0; step < steps; step++) {
                int64_t n = mt_sampler_batch(index, &s, order, step, batch);
                cr_assert(n >= 1 && n <= batch);
                cr_assert(n == batch || step == steps - 1, "a small batch that is not the last");
                cr_assert_eq(memcmp(index, order + at, (size_t)n * sizeof *index), 0);
                at += n;
            }
            cr_assert_eq(at, count);
            int64_t full = mt_sampler_steps(&s, batch, true);
            cr_assert(full * batch <= count && (full + 1) * batch > count);
            free(order);
        }
    }
}
