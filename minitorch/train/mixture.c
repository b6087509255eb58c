/* mixture.c -- see mixture.h. */
#include "train/mixture.h"

#include <stdlib.h>

typedef struct part {
    mt_dataset *set;
    int64_t begin; /* the first of its samples */
    double until;  /* shares of the sets up to it; 0: there are no weights */
} part;

typedef struct mixture {
    mt_dataset base;
    int64_t count;
    part part[];
} mixture;

static mt_status mixture_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const mixture *m = (const mixture *)base;
    int64_t k = m->count - 1;
    while (index < m->part[k].begin)
        k--;
    return mt_dataset_get(m->part[k].set, index - m->part[k].begin, rng, x, y);
}

static void mixture_close(mt_dataset *base)
{
    mixture *m = (mixture *)base;
    for (int64_t k = 0; k < m->count; k++)
        mt_dataset_close(m->part[k].set);
    free(m);
}

mt_dataset *mt_mixture_new(mt_dataset *const *sets, const double *weight, int64_t count)
{
    MT_CHECK(count >= 1, "a mixture of %" PRId64 " sets", count);
    mixture *m = mt_calloc(1, sizeof *m + (size_t)count * sizeof *m->part);
    m->base = (mt_dataset){ 0, sets[0]->x, sets[0]->y, mixture_get, mixture_close, NULL };
    m->count = count;
    double sum = 0, until = 0;
    for (int64_t k = 0; k < count; k++) {
        MT_CHECK(mt_field_bytes(&sets[k]->x) == mt_field_bytes(&sets[0]->x) && sets[k]->x.dtype == sets[0]->x.dtype &&
                     mt_field_bytes(&sets[k]->y) == mt_field_bytes(&sets[0]->y) && sets[k]->y.dtype == sets[0]->y.dtype,
                 "set %" PRId64 " of a mixture has samples of another shape or type than the first", k);
        sum += weight ? weight[k] : 0;
    }
    for (int64_t k = 0; k < count; k++) {
        until += weight ? weight[k] : 0;
        m->part[k] = (part){ sets[k], m->base.count, weight ? until / sum : 0 };
        m->base.count += sets[k]->count;
    }
    return &m->base;
}

static void pick_mixed(int64_t *index, const mt_batch_source *source, int64_t step, int64_t batch)
{
    const mixture *m = (const mixture *)source->set;
    mt_rng all = mt_rng_new(source->seed, MT_STREAM_SHUFFLE), rng = mt_rng_substream(&all, (uint64_t)step);
    for (int64_t i = 0; i < batch * source->world; i++) {
        double share = mt_rng_uniform(&rng);
        const part *p = m->part;
        while (p < m->part + m->count - 1 && share >= p->until)
            p++;
        int64_t sample = p->begin + mt_rng_below(&rng, p->set->count);
        if (i % source->world == source->rank)
            index[i / source->world] = sample;
    }
}

mt_batch_source mt_batches_mixed(const mt_dataset *set, uint64_t seed)
{
    mt_batch_source source = mt_batches_random(set, seed);
    if (set->get == mixture_get && ((const mixture *)set)->part[0].until > 0)
        source.pick = pick_mixed;
    return source;
}
