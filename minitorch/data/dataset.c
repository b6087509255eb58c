/* dataset.c -- see dataset.h: batch sources, and some samples of a set as a set of their own. */
#include "data/dataset.h"

#include <stdlib.h>

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

/* ---- subsets --------------------------------------------------------------------------------------------- */

typedef struct subset {
    mt_dataset base;
    const mt_dataset *set;
    int64_t index[]; /* of each sample in set */
} subset;

enum { AHEAD = 64 };

static mt_status subset_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const subset *s = (const subset *)base;
    return s->set->get(s->set, s->index[index], rng, x, y);
}

static void subset_soon(const mt_dataset *base, const int64_t *index, int64_t count)
{
    const subset *s = (const subset *)base;
    int64_t in_set[AHEAD];
    for (int64_t n = 0, k = 0; n < count; n++) {
        in_set[k++] = s->index[index[n]];
        if (k == AHEAD || n == count - 1) {
            s->set->soon(s->set, in_set, k);
            k = 0;
        }
    }
}

static void subset_close(mt_dataset *base)
{
    free(base);
}

static subset *subset_new(const mt_dataset *set, int64_t count)
{
    subset *s = malloc(sizeof *s + (size_t)count * sizeof *s->index);
    MT_CHECK(s, "out of memory");
    s->base = (mt_dataset){ .x = set->x, .y = set->y, .get = subset_get, .close = subset_close };
    s->base.soon = set->soon ? subset_soon : NULL;
    s->set = set;
    return s;
}

mt_dataset *mt_dataset_spread(const mt_dataset *set, int64_t count)
{
    MT_CHECK(count >= 1, "a set of %" PRId64 " samples", count);
    subset *s = subset_new(set, count);
    for (; s->base.count < count; s->base.count++)
        s->index[s->base.count] = s->base.count * set->count / count;
    return &s->base;
}

void mt_dataset_split(mt_dataset **others, mt_dataset **drawn, const mt_dataset *set, int64_t held, uint64_t seed)
{
    MT_CHECK(held >= 1 && held < set->count, "%" PRId64 " samples held out of %" PRId64, held, set->count);
    mt_rng rng = mt_rng_new(seed, MT_STREAM_SPLIT);
    subset *part[2] = { subset_new(set, set->count - held), subset_new(set, held) };
    int64_t *order = mt_realloc(NULL, set->count, sizeof *order);
    bool *is_drawn = mt_calloc(set->count, sizeof *is_drawn);
    mt_rng_permutation(&rng, order, set->count);
    for (int64_t i = 0; i < held; i++)
        is_drawn[order[i]] = true;
    for (int64_t i = 0; i < set->count; i++) {
        subset *s = part[is_drawn[i]];
        s->index[s->base.count++] = i;
    }
    free(order);
    free(is_drawn);
    *others = &part[0]->base;
    *drawn = &part[1]->base;
}
