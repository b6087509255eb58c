/* interval.c -- Young's interval, and what an interval costs, in virtual time. */
#include "ckpt/interval.h"

#include <math.h>

double mt_young_interval(double cost, double mtbf)
{
    /* TODO 12.6: The t that makes C / t + t / 2M least. */
    MT_TODO("12.6"); /* delete this line when yours stands here */
}

/* Seconds to the next failure: exponentially distributed with this mean. */
static double time_to_failure(double mtbf, mt_rng *rng)
{
    return -mtbf * log(1 - (double)mt_rng_uniform(rng));
}

double mt_run_waste(const mt_run_plan *p, mt_rng *rng)
{
    double now = 0, done = 0, failure = time_to_failure(p->mtbf, rng);
    /* TODO 12.6: One piece of work and its save after the other, until all work is done.
     * Hint: the last piece may be shorter. A piece whose save would end after `failure` is lost: the time becomes that
     * of the failure and the restart, and the next failure is counted from there. */
    MT_TODO("12.6"); /* delete this line when yours stands here */
    return 1 - done / now;
}
