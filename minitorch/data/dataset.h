/* dataset.h -- samples by number: what a loader reads from, whatever lies behind it.
 *
 * A data set is one struct of this type at the start of its own. `get` is called from many threads at once, so it changes
 * nothing but its outputs; all its randomness comes from rng. That is why a sample depends on (seed, epoch, index) only.
 *
 *     mt_dataset *set;
 *     if (mt_idx_dataset_open(&set, images, labels, norm) != MT_OK)      // data/idx_map.h
 *         die(mt_last_error());                                          // data/images/image.h, data/tokens.h open others
 *     mt_dataset_get(set, 7, &rng, x, y);
 *     mt_dataset_close(set); */
#ifndef MT_DATA_DATASET_H
#define MT_DATA_DATASET_H

#include <inttypes.h>

#include "core/dtype.h"
#include "core/rng.h"
#include "core/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of the two halves of a sample: its input x, and what is to be learnt, y. */
typedef struct mt_field {
    mt_dtype dtype;
    mt_shape shape; /* of one sample; a batch has one dimension more, in front */
} mt_field;

typedef struct mt_dataset mt_dataset;

struct mt_dataset {
    int64_t count; /* samples, at least 1 */
    mt_field x, y; /* the same for every sample */

    /* get -- write sample index to x and y, row-major.   Fails with the file's name: MT_ERR_FORMAT when its content is
     * bad (a loader may skip it), MT_ERR_IO when it cannot be read. Then x and y may be half written. */
    mt_status (*get)(const mt_dataset *set, int64_t index, mt_rng *rng, void *x, void *y);
    void (*close)(mt_dataset *set);

    /* soon -- optional: these samples are asked for next. A set may fetch their bytes ahead; nothing else may change. */
    void (*soon)(const mt_dataset *set, const int64_t *index, int64_t count);
};

/* A batch source: which samples form batch number `step`, as a pure function of (seed, step, rank, world). A batch does not
 * depend on the batches before it, so a resumed run continues with the batches of the unbroken one, and each rank computes
 * its own part of the global batch, world * batch samples, without communication: every world-th of them, from rank on. */
typedef struct mt_batch_source mt_batch_source;

struct mt_batch_source {
    const mt_dataset *set; /* whose samples it chooses; borrowed */
    int64_t steps;         /* batches in an epoch */
    uint64_t seed;         /* the same on all ranks */
    int64_t rank, world;   /* 0 <= rank < world */

    /* pick -- write this rank's samples of the batch to index [batch]. */
    void (*pick)(int64_t *index, const mt_batch_source *source, int64_t step, int64_t batch);
};

/* mt_batches_random -- samples drawn with replacement, from stream MT_STREAM_SHUFFLE, substream step; the epoch has no end.
 * mt_batches_spread -- every epoch the same samples, spread evenly over the set: for validation.   Both: rank 0 of 1. */
mt_batch_source mt_batches_random(const mt_dataset *set, uint64_t seed);
mt_batch_source mt_batches_spread(const mt_dataset *set, int64_t steps);

/* mt_data_find -- where datasets/fetch puts files: the path of `file` in datasets/cache, or in the folder that the environment
 * variable MT_DATA names; that of `standin` when only it exists.   out [MT_PATH] */
enum { MT_PATH = 4096 };
void mt_data_find(char *out, const char *file, const char *standin);

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

#ifdef __cplusplus
}
#endif
#endif
