/* evolve.c -- evolutionary search with aging: the best of a few of the newest trials, with one or more coordinates
 * changed. Source: Real et al. 2019, arXiv:1802.01548. */
#include "search/search.h"

enum { POPULATION = 20, TOURNAMENT = 5 };

/* Number `back` of the newest trials that ended. */
static const mt_job *newest(const mt_job *jobs, int64_t count, int64_t back)
{
    for (const mt_job *j = jobs + count - 1; j >= jobs; j--)
        if (j->rung == 0 && j->state == MT_JOB_DONE && back-- == 0)
            return j;
    return NULL;
}

mt_point mt_sample_evolve(const mt_search *search, const mt_job *jobs, int64_t count, mt_rng *rng)
{
    const mt_space *space = &search->space;
    int64_t ended = 0, first = mt_max(4, mt_min(POPULATION, search->trials / 4));
    for (const mt_job *j = jobs; j < jobs + count; j++)
        ended += j->rung == 0 && j->state == MT_JOB_DONE;
    if (ended < first)
        return mt_space_random(space, rng);
    const mt_job *parent = NULL;
    for (int i = 0; i < TOURNAMENT; i++) {
        const mt_job *other = newest(jobs, count, mt_rng_below(rng, mt_min(ended, POPULATION)));
        if (!parent || other->value < parent->value)
            parent = other;
    }
    mt_point child = parent->point;
    int64_t always = mt_rng_below(rng, space->count);
    for (int64_t d = 0; d < space->count; d++) {
        if (d != always && mt_rng_below(rng, space->count) != 0)
            continue;
        bool jump = space->dimension[d].kind == MT_SPACE_CHOICE || mt_rng_below(rng, 8) == 0;
        child.at[d] = mt_space_snap(space, d, jump ? mt_rng_uniform(rng) : child.at[d] + 0.15 * mt_rng_normal(rng));
    }
    return child;
}
