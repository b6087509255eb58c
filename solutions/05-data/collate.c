/* collate.c -- collects samples into a batch: each with its own random stream; bad ones are replaced or reported. */
#include "data/collate.h"

mt_rng mt_sample_rng(uint64_t seed, int64_t epoch, int64_t index)
{
    /* LAB 05.11 BEGIN  A random stream for this sample in this epoch.
     * Hint: core/rng.h divides a stream into substreams by number, and those again. With one stream for all samples
     * the numbers would depend on the order in which the workers run. */
    mt_rng all = mt_rng_new(seed, MT_STREAM_AUGMENT);
    mt_rng of_epoch = mt_rng_substream(&all, (uint64_t)epoch);
    return mt_rng_substream(&of_epoch, (uint64_t)index);
    /* LAB 05.11 END */
}

/* fetch -- sample *index, or its replacement. */
static mt_status fetch(void *x, void *y, int64_t *index, int64_t *skipped, const mt_collation *how)
{
    const mt_dataset *set = how->set;
    mt_status status = MT_OK;
    /* LAB 05.12 BEGIN  Get the sample; if its content is bad and the policy is to skip, try the next one.
     * Hint: mt_sample_rng and mt_dataset_get; only MT_ERR_FORMAT is skipped. Try each sample of the set at most once;
     * if all are bad, continue below. Set *index to the sample that was fetched, and add 1 to *skipped for each bad
     * one. */
    for (int64_t tries = 0; tries < set->count; tries++) {
        mt_rng rng = mt_sample_rng(how->seed, how->epoch, *index);
        status = mt_dataset_get(set, *index, &rng, x, y);
        if (status != MT_ERR_FORMAT || how->on_bad == MT_BAD_FATAL)
            return status;
        *index = (*index + 1) % set->count;
        ++*skipped;
    }
    /* LAB 05.12 END */
    return mt_fail(status, "all %" PRId64 " samples are bad; the last one: %s", set->count, mt_last_error());
}

mt_status mt_collate(void *x, void *y, int64_t *index, int64_t *skipped, const mt_collation *how, int64_t N)
{
    int64_t x_bytes = mt_field_bytes(&how->set->x), y_bytes = mt_field_bytes(&how->set->y);
    *skipped = 0;
    for (int64_t n = 0; n < N; n++) {
        if (how->stopped && *how->stopped)
            return mt_fail(MT_ERR_STOPPED, "stopped in the middle of a batch");
        mt_status status = fetch((char *)x + n * x_bytes, (char *)y + n * y_bytes, &index[n], skipped, how);
        if (status != MT_OK)
            return status;
    }
    return MT_OK;
}
