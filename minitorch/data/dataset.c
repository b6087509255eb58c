/* dataset.c -- see dataset.h: where the data sets of datasets/fetch are, and the batch sources. */
#include "data/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

void mt_data_find(char *out, const char *file, const char *standin)
{
    const char *root = getenv("MT_DATA");
    char second[MT_PATH];
    if (!root || !*root)
        root = "datasets/cache";
    snprintf(second, MT_PATH, "%s/%s", root, standin);
    snprintf(out, MT_PATH, "%s/%s", root, file);
    if (access(out, F_OK) < 0 && access(second, F_OK) == 0)
        snprintf(out, MT_PATH, "%s", second);
}

mt_status mt_data_map(mt_file_map *out, const char *file, const char *standin)
{
    char path[MT_PATH];
    mt_data_find(path, file, standin);
    mt_status status = mt_file_map_open(out, path);
    if (status == MT_OK)
        return MT_OK;
    return mt_fail(status, "%s\nrun datasets/fetch %.*s", mt_last_error(), (int)strcspn(file, "/"), file);
}

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
