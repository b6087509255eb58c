/* dataset.h -- a data set: samples by number, which a loader reads, and the choice of samples for a batch.
 *
 * Each kind of data set is a struct that begins with an mt_dataset. `get` is called from many threads at once, so it
 * changes only its outputs; all its randomness comes from rng. A sample therefore depends on (seed, epoch, index) only.
 *
 *     mt_dataset *set;
 *     if (mt_idx_dataset_open(&set, images, labels, norm) != MT_OK)   // data/idx_map.h; or data/images/image.h,
 *         die(mt_last_error());                                       // data/tokens.h
 *     mt_dataset_get(set, 7, &rng, x, y);
 *     mt_dataset_close(set); */
#pragma once

#include <inttypes.h>

#include "core/dtype.h"
#include "core/io.h"
#include "core/rng.h"
#include "core/view.h"

MT_C_BEGIN

/* One half of a sample: the input x, or the target y. */
typedef struct mt_field {
    mt_dtype dtype;
    mt_shape shape; /* of one sample; a batch has one more dimension, in front */
} mt_field;

typedef struct mt_dataset mt_dataset;

struct mt_dataset {
    int64_t count; /* samples, at least 1 */
    mt_field x, y; /* the same for every sample */

    /* get -- write sample index to x and y, row-major.   Fails with the file's name: MT_ERR_FORMAT when its content is
     * bad (a loader may skip it), MT_ERR_IO when it cannot be read. x and y may then be partly written. */
    mt_status (*get)(const mt_dataset *set, int64_t index, mt_rng *rng, void *x, void *y);
    void (*close)(mt_dataset *set);

    /* soon -- optional: these samples will be read next. A set may prefetch their bytes. */
    void (*soon)(const mt_dataset *set, const int64_t *index, int64_t count);
};

/* A batch source: which samples form batch number `step`, as a pure function of (seed, step, rank, world). A batch does
 * not depend on the batches before it, so a resumed run continues with the batches of the uninterrupted one. Each rank
 * computes its part of the global batch of world * batch samples without communication: every world-th sample, from
 * rank on. */
typedef struct mt_batch_source mt_batch_source;

struct mt_batch_source {
    const mt_dataset *set; /* the samples to choose from; borrowed */
    int64_t steps;         /* batches in an epoch */
    uint64_t seed;         /* the same on all ranks */
    int64_t rank, world;   /* 0 <= rank < world */

    /* pick -- write this rank's samples of the batch to index [batch]. */
    void (*pick)(int64_t *index, const mt_batch_source *source, int64_t step, int64_t batch);
};

/* mt_batches_random -- samples drawn with replacement, from stream MT_STREAM_SHUFFLE, substream step; the epoch has no
 * end.
 * mt_batches_spread -- every epoch the same samples, spread evenly over the set: for validation.   Both: rank 0 of
 * 1. */
mt_batch_source mt_batches_random(const mt_dataset *set, uint64_t seed);
mt_batch_source mt_batches_spread(const mt_dataset *set, int64_t steps);

/* mt_dataset_split -- the samples of a set in two new ones: `held` of them, drawn by the seed, and the others; each in
 * the set's order. They borrow the set.   Aborts: not 1 <= held < set->count. */
void mt_dataset_split(mt_dataset **others, mt_dataset **drawn, const mt_dataset *set, int64_t held, uint64_t seed);

/* mt_dataset_spread -- `count` samples, spread evenly over the set, in its order: more than it has repeat some. Borrows
 * the set.   Aborts: count < 1. */
mt_dataset *mt_dataset_spread(const mt_dataset *set, int64_t count);

/* mt_field_bytes -- of one sample. */
static inline int64_t mt_field_bytes(const mt_field *field)
{
    return mt_shape_numel(field->shape) * mt_dtype_size(field->dtype);
}

/* mt_dataset_get -- get, with the index checked.   Aborts: index outside 0 .. count - 1. */
static inline mt_status mt_dataset_get(const mt_dataset *set, int64_t index, mt_rng *rng, void *x, void *y)
{
    MT_CHECK(index >= 0 && index < set->count, "sample %" PRId64 " of %" PRId64, index, set->count);
    return set->get(set, index, rng, x, y);
}

static inline void mt_dataset_close(mt_dataset *set) /* NULL is allowed */
{
    if (set)
        set->close(set);
}

MT_C_END
