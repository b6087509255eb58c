/* collate.h -- reading the samples of one batch: the work of a loader's thread.
 * Unit: solutions/05-data/collate.c */
#pragma once

#ifdef __cplusplus
#include <atomic>
using std::atomic_bool;
#else
#include <stdatomic.h>
#endif

#include "data/dataset.h"

MT_C_BEGIN

/* What to do with a sample whose content is bad (MT_ERR_FORMAT). A file that cannot be read is always an error. */
typedef enum mt_bad_sample {
    MT_BAD_FATAL, /* the batch fails with the sample's error */
    MT_BAD_SKIP,  /* the next good sample of the data set takes its place */
} mt_bad_sample;

typedef struct mt_collation {
    const mt_dataset *set;
    uint64_t seed; /* of the samples' randomness */
    int64_t epoch;
    mt_bad_sample on_bad;
    const atomic_bool *stopped; /* give up when it becomes true; NULL: never */
} mt_collation;

/* mt_sample_rng -- the random stream of one sample: of MT_STREAM_AUGMENT, substream epoch, of that substream index. No
 * two samples share one, and it does not depend on the worker.   Lab 05.11 */
mt_rng mt_sample_rng(uint64_t seed, int64_t epoch, int64_t index);

/* mt_collate -- read samples index[0 .. N-1] into x and y, one after the other.
 *   x, y     [N, sample's shape]  overwritten
 *   index    [N]  in: the samples wanted; out: those read, where bad ones were replaced (index + 1, + 2, ... modulo
 *            count, the first that is good, with that sample's own random stream)
 *   skipped  the number of bad samples replaced
 * Fails as the data set's get does; when no sample of the set is good; MT_ERR_STOPPED when `stopped` became true. What
 * was written by then is not defined.
 * Lab 05.12 */
mt_status mt_collate(void *x, void *y, int64_t *index, int64_t *skipped, const mt_collation *how, int64_t N);

MT_C_END
