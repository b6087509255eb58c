/* mixture.h -- several data sets as one, and batches that take given shares of them.
 *
 *     mt_dataset *both = mt_mixture_new((mt_dataset *[]){ prose, code }, (double[]){ 3, 1 }, 2);
 *     mt_batch_source source = mt_batches_mixed(both, seed);      // three of four samples are prose, on average */
#pragma once

#include "data/dataset.h"

MT_C_BEGIN

/* mt_mixture_new -- the samples of several sets of the same fields, one set behind the other. Takes the sets over.
 *   weight [count], all > 0: the sets' shares of what mt_batches_mixed draws; NULL: their numbers of samples
 * Aborts: no set; fields that differ. */
mt_dataset *mt_mixture_new(mt_dataset *const *sets, const double *weight, int64_t count);

/* mt_batches_mixed -- mt_batches_random, but that with weights the set of each sample is drawn first, by the weights,
 * then one of its samples. */
mt_batch_source mt_batches_mixed(const mt_dataset *mixture, uint64_t seed);

MT_C_END
