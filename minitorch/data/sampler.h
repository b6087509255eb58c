/* sampler.h -- which samples come in which order: pure functions of (seed, epoch).
 *
 * A sampler is a value. It orders the whole data set and gives each of `world` ranks every world-th place of that
 * order, so ranks get disjoint samples without communication. To resume, only epoch and step have to be saved.
 *
 *     mt_sampler all   = mt_sampler_sequential(set->count);
 *     mt_sampler mixed = mt_sampler_shuffling(set->count, seed);
 *     mt_sampler mine  = mt_sampler_distributed(mixed, rank, world, MT_UNEVEN_PAD);
 * Unit: solutions/05-data/sampler.c */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* When count is not a multiple of world; every rank must make the same number of steps, or the others wait forever. */
typedef enum mt_uneven {
    MT_UNEVEN_PAD,  /* the order starts again: up to world - 1 samples come twice in an epoch */
    MT_UNEVEN_DROP, /* up to world - 1 samples are left out of this epoch */
} mt_uneven;

typedef struct mt_sampler {
    int64_t count; /* samples of the whole set, >= 0 */
    bool shuffle;
    uint64_t seed; /* the same on all ranks */
    int64_t rank, world;
    mt_uneven uneven;
} mt_sampler;

mt_sampler mt_sampler_sequential(int64_t count);
mt_sampler mt_sampler_shuffling(int64_t count, uint64_t seed);

/* mt_sampler_distributed -- the part of one rank.   Aborts: not 0 <= rank < world. */
mt_sampler mt_sampler_distributed(mt_sampler sampler, int64_t rank, int64_t world, mt_uneven uneven);

/* mt_sampler_order -- the order of the whole set in this epoch, the same on every rank.
 *   order  [count]  overwritten: 0 .. count-1, each once; shuffled by the stream MT_STREAM_SHUFFLE, substream epoch
 * Lab 05.8 */
void mt_sampler_order(int64_t *order, const mt_sampler *sampler, int64_t epoch);

/* mt_sampler_length -- samples of this rank in an epoch: count / world, rounded up to pad, down to drop.   Lab 05.9 */
int64_t mt_sampler_length(const mt_sampler *sampler);

/* mt_sampler_place -- the place in the order of this rank's k-th sample, 0 <= k < length: every world-th place from
 * rank on, starting again at the front when padding.   Lab 05.9 */
int64_t mt_sampler_place(const mt_sampler *sampler, int64_t k);

/* mt_sampler_steps -- batches of this rank in an epoch; the last may be smaller, and does not count with drop_last.
 * Aborts: batch < 1.   Lab 05.10 */
int64_t mt_sampler_steps(const mt_sampler *sampler, int64_t batch, bool drop_last);

/* mt_sampler_batch -- the samples of one batch.
 *   index  [batch]  overwritten: the first n entries
 *   order  [count]  of this epoch
 *   step   0 .. steps - 1
 * Returns n: batch, or fewer for the last one.   Lab 05.10 */
int64_t mt_sampler_batch(int64_t *index, const mt_sampler *sampler, const int64_t *order, int64_t step, int64_t batch);

MT_C_END
