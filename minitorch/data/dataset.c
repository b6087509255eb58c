/* dataset.c -- see dataset.h: the batch sources. */
#include "data/dataset.h"

/* ---- batch sources ----------------------------------------------------------------------------------------------- */

static void pick_random(int64_t *index, const mt_batch_source *source, int64_t step, int64_t batch)
{
    mt_rng all = mt_rng_new(source->seed, MT_STREAM_SHUFFLE), rng = mt_rng_substream(&all, (uint64_t)step);
    for (int64_t i = 0; i < batch * source->world; i++) {
        int64_t sample = mt_rng_below(&rng, source->set->count);
        if (i % source->world == source->rank)
            index[i / source->world] = sample;
    }
}

static void pick_spread(int64_t *index, const mt_batch_source *source, int64_t step, int64_t batch)
{
    for (int64_t i = 0; i < batch; i++) {
        int64_t place = (step * batch + i) * source->world + source->rank;
        index[i] = place * source->set->count / (source->steps * batch * source->world);
    }
}

mt_batch_source mt_batches_random(const mt_dataset *set, uint64_t seed)
{
    return (mt_batch_source){ .set = set, .steps = INT64_MAX, .seed = seed, .world = 1, .pick = pick_random };
}

mt_batch_source mt_batches_spread(const mt_dataset *set, int64_t steps)
{
    return (mt_batch_source){ .set = set, .steps = steps, .world = 1, .pick = pick_spread };
}
