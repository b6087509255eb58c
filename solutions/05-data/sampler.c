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
    /* LAB 05.8 BEGIN  The order of all samples in this epoch, a function of seed and epoch only.
     * Hint: core/rng.h has streams, substreams by number, and a permutation. Without shuffling the order is 0, 1, 2,
     * ... If each epoch shuffled the order of the previous one, epoch 7 would depend on epochs 0 to 6. */
    if (sampler->shuffle) {
        mt_rng stream = mt_rng_new(sampler->seed, MT_STREAM_SHUFFLE);
        mt_rng rng = mt_rng_substream(&stream, (uint64_t)epoch);
        mt_rng_permutation(&rng, order, sampler->count);
    } else {
        for (int64_t i = 0; i < sampler->count; i++)
            order[i] = i;
    }
    /* LAB 05.8 END */
}

int64_t mt_sampler_length(const mt_sampler *sampler)
{
    /* LAB 05.9 BEGIN  How many samples each rank gets: the same number on every rank.
     * Hint: an integer division rounds down. How is it made to round up, which MT_UNEVEN_PAD requires? */
    int64_t extra = sampler->uneven == MT_UNEVEN_PAD ? sampler->world - 1 : 0;
    return (sampler->count + extra) / sampler->world;
    /* LAB 05.9 END */
}

int64_t mt_sampler_place(const mt_sampler *sampler, int64_t k)
{
    /* LAB 05.9 BEGIN  The position in the order of the k-th sample of this rank.
     * Hint: ranks take turns: 0 1 2 0 1 2 ... Padding starts again at the beginning, possibly several times. */
    return (k * sampler->world + sampler->rank) % sampler->count;
    /* LAB 05.9 END */
}

int64_t mt_sampler_steps(const mt_sampler *sampler, int64_t batch, bool drop_last)
{
    MT_CHECK(batch >= 1, "a batch of %" PRId64 " samples", batch);
    int64_t length = mt_sampler_length(sampler);
    /* LAB 05.10 BEGIN  How many batches an epoch has.
     * Hint: the remaining samples make one more, smaller batch, unless it is dropped. */
    return drop_last ? length / batch : (length + batch - 1) / batch;
    /* LAB 05.10 END */
}

int64_t mt_sampler_batch(int64_t *index, const mt_sampler *sampler, const int64_t *order, int64_t step, int64_t batch)
{
    /* LAB 05.10 BEGIN  Which samples are in batch number step, and how many.
     * Hint: this rank's samples number step * batch and on, not beyond mt_sampler_length; mt_sampler_place gives the
     * position of each in the order. */
    int64_t first = step * batch, count = mt_min(batch, mt_sampler_length(sampler) - first);
    for (int64_t i = 0; i < count; i++)
        index[i] = order[mt_sampler_place(sampler, first + i)];
    return count;
    /* LAB 05.10 END */
}
