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
    /* TODO 13.17: Update velocity and parameters with the mean. */
    MT_TODO("13.17"); /* delete this line when yours stands here */
}

mt_status mt_outer_step(mt_comm *comm, mt_outer *o, float *local)
{
    mt_status status = MT_OK;
    float *now = due(o, o->round);
    /* TODO 13.18: d goes to the round in which it is due; what is due now comes from all ranks.
     * Hint: mt_outer_delay says when, `due` where. What was applied must not be applied again max_delay + 1 rounds
     * later. */
    MT_TODO("13.18"); /* delete this line when yours stands here */
    return status;
}
