/* sampler.c -- the order of samples: shuffled by seed and epoch, divided among ranks, cut into batches. */
#include "data/sampler.h"

#include <inttypes.h>

#include "core/rng.h"

mt_sampler mt_sampler_sequential(int64_t count)
{
    MT_CHECK(count >= 0, "a sampler of %" PRId64 " samples", count);
    return (mt_sampler){ .count = count, .world = 1 };
}

mt_sampler mt_sampler_shuffling(int64_t count, uint64_t seed)
{
    mt_sampler sampler = mt_sampler_sequential(count);
    sampler.shuffle = true;
    sampler.seed = seed;
    return sampler;
}

mt_sampler mt_sampler_distributed(mt_sampler sampler, int64_t rank, int64_t world, mt_uneven uneven)
{
    MT_CHECK(0 <= rank && rank < world, "rank %" PRId64 " of %" PRId64, rank, world);
    sampler.rank = rank;
    sampler.world = world;
    sampler.uneven = uneven;
    return sampler;
}

void mt_sampler_order(int64_t *order, const mt_sampler *sampler, int64_t epoch)
{
    /* TODO 05.8: The order of all samples in this epoch, a function of seed and epoch only.
     * Hint: core/rng.h has streams, substreams by number, and a permutation. Without shuffling the order is 0, 1, 2,
     * ... If each epoch shuffled the order of the previous one, epoch 7 would depend on epochs 0 to 6. */
    MT_TODO("05.8"); /* delete this line when yours stands here */
}

int64_t mt_sampler_length(const mt_sampler *sampler)
{
    /* TODO 05.9: How many samples each rank gets: the same number on every rank.
     * Hint: an integer division rounds down. How is it made to round up, which MT_UNEVEN_PAD requires? */
    MT_TODO("05.9"); /* delete this line when yours stands here */
}

int64_t mt_sampler_place(const mt_sampler *sampler, int64_t k)
{
    /* TODO 05.9: The position in the order of the k-th sample of this rank.
     * Hint: ranks take turns: 0 1 2 0 1 2 ... Padding starts again at the beginning, possibly several times. */
    MT_TODO("05.9"); /* delete this line when yours stands here */
}

int64_t mt_sampler_steps(const mt_sampler *sampler, int64_t batch, bool drop_last)
{
    MT_CHECK(batch >= 1, "a batch of %" PRId64 " samples", batch);
    int64_t length = mt_sampler_length(sampler);
    /* TODO 05.10: How many batches an epoch has.
     * Hint: the remaining samples make one more, smaller batch, unless it is dropped. */
    MT_TODO("05.10"); /* delete this line when yours stands here */
}

int64_t mt_sampler_batch(int64_t *index, const mt_sampler *sampler, const int64_t *order, int64_t step, int64_t batch)
{
    /* TODO 05.10: Which samples are in batch number step, and how many.
     * Hint: this rank's samples number step * batch and on, not beyond mt_sampler_length; mt_sampler_place gives the
     * position of each in the order. */
    MT_TODO("05.10"); /* delete this line when yours stands here */
}
