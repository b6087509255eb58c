/* local.c -- the step that brings together what ranks have learnt by themselves; see dist/local.h. */
#include "dist/local.h"

#include "core/rng.h"

int64_t mt_outer_delay(const mt_outer *o, int rank, int64_t round)
{
    mt_rng all = mt_rng_new(o->seed, MT_STREAM_USER + (uint64_t)rank);
    mt_rng rng = mt_rng_substream(&all, (uint64_t)round);
    return mt_rng_below(&rng, o->max_delay + 1);
}

/* The pending sum that is applied in a round. */
static float *due(const mt_outer *o, int64_t round)
{
    return o->pending + round % (o->max_delay + 1) * o->n;
}

/* Nesterov's step by d, the sum over `size` ranks. */
static void update(mt_outer *o, const float *d, int size)
{
    float lr = (float)o->lr, momentum = (float)o->momentum;
    /* LAB 13.17 BEGIN  Update velocity and parameters with the mean. */
    for (int64_t i = 0; i < o->n; i++) {
        float mean = d[i] / (float)size;
        o->velocity[i] = momentum * o->velocity[i] + mean;
        o->global[i] -= lr * (mean + momentum * o->velocity[i]);
    }
    /* LAB 13.17 END */
}

mt_status mt_outer_step(mt_comm *comm, mt_outer *o, float *local)
{
    mt_status status = MT_OK;
    float *now = due(o, o->round);
    /* LAB 13.18 BEGIN  d goes to the round in which it is due; what is due now comes from all ranks.
     * Hint: mt_outer_delay says when, `due` where. What was applied must not be applied again max_delay + 1 rounds
     * later. */
    float *later = due(o, o->round + mt_outer_delay(o, comm->rank, o->round));
    for (int64_t i = 0; i < o->n; i++)
        later[i] += o->global[i] - local[i];
    status = mt_all_reduce(comm, now, o->n, MT_F32, MT_SUM, NULL);
    if (status != MT_OK)
        return status;
    update(o, now, comm->size);
    for (int64_t i = 0; i < o->n; i++) {
        now[i] = 0;
        local[i] = o->global[i];
    }
    o->round++;
    /* LAB 13.18 END */
    return status;
}
