/* search.c -- see search.h. */
#include "search/search.h"

#include <math.h>
#include <stdlib.h>

int64_t mt_search_trials(const mt_search *search)
{
    return search->sampler == MT_SAMPLE_GRID ? mt_min(search->trials, mt_space_grid(&search->space)) : search->trials;
}

int64_t mt_search_rungs(const mt_search *search)
{
    int64_t rungs = 1;
    if (search->eta)
        for (int64_t steps = search->least; steps < search->most; rungs++)
            steps = steps > search->most / search->eta ? search->most : steps * search->eta;
    return rungs;
}

int64_t mt_search_steps(const mt_search *search, int64_t rung)
{
    int64_t steps = search->eta ? mt_min(search->least, search->most) : search->most;
    for (; rung > 0; rung--)
        steps = steps > search->most / search->eta ? search->most : steps * search->eta;
    return steps;
}

int64_t mt_search_cost(const mt_search *search)
{
    int64_t cost = 0, trials = mt_search_trials(search);
    for (int64_t rung = 0; rung < mt_search_rungs(search); rung++) {
        cost += trials * mt_search_steps(search, rung);
        trials /= search->eta ? search->eta : 1;
    }
    return cost;
}

int mt_search_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool better(const mt_job *a, const mt_job *b)
{
    return a->state == MT_JOB_DONE && (b->state != MT_JOB_DONE || a->value < b->value);
}

/* The best job of a rung that may be promoted: it is among the best 1/eta of those that ended, and its trial has no
 * job on the rung above; NULL: none. If the best one that was not promoted is not among them, no other is. */
static const mt_job *promotable(const mt_search *search, const mt_job *jobs, int64_t count, int64_t rung)
{
    int64_t ended = 0, ahead = 0;
    const mt_job *best = NULL, *end = jobs + count;
    bool *above = mt_calloc(mt_search_trials(search), sizeof *above);
    for (const mt_job *j = jobs; j < end; j++)
        above[j->trial] |= j->rung == rung + 1;
    for (const mt_job *j = jobs; j < end; j++) {
        ended += j->rung == rung && j->state != MT_JOB_RUNNING;
        if (j->rung == rung && j->state == MT_JOB_DONE && !above[j->trial] && (!best || better(j, best)))
            best = j;
    }
    free(above);
    for (const mt_job *j = jobs; j < end && best; j++)
        ahead += j->rung == rung && (better(j, best) || (!better(best, j) && j < best));
    return best && ahead < ended / search->eta ? best : NULL;
}

/* Point i of the grid; with halving in a random order, since a rung compares those that come first. */
static mt_point grid_point(const mt_search *search, int64_t i)
{
    int64_t points = mt_space_grid(&search->space);
    if (search->eta && points <= 1 << 20) {
        mt_rng rng = mt_rng_new(search->seed, MT_STREAM_USER + 1);
        int64_t *order = mt_calloc(points, sizeof *order);
        mt_rng_permutation(&rng, order, points);
        i = order[i];
        free(order);
    }
    return mt_space_grid_point(&search->space, i);
}

static mt_point sample(const mt_search *search, const mt_job *jobs, int64_t count, int64_t trial)
{
    mt_rng stream = mt_rng_new(search->seed, MT_STREAM_USER), rng = mt_rng_substream(&stream, (uint64_t)trial);
    switch (search->sampler) {
    case MT_SAMPLE_GRID:
        return grid_point(search, trial);
    case MT_SAMPLE_BAYES:
        return mt_sample_bayes(search, jobs, count, &rng);
    case MT_SAMPLE_EVOLVE:
        return mt_sample_evolve(search, jobs, count, &rng);
    default:
        return mt_space_random(&search->space, &rng);
    }
}

bool mt_search_next(const mt_search *search, const mt_job *jobs, int64_t count, mt_job *next)
{
    for (int64_t rung = mt_search_rungs(search) - 2; rung >= 0; rung--) {
        const mt_job *from = promotable(search, jobs, count, rung);
        if (from) {
            *next = (mt_job){ .trial = from->trial, .rung = rung + 1, .point = from->point };
            next->steps = mt_search_steps(search, rung + 1);
            return true;
        }
    }
    int64_t begun = 0;
    for (const mt_job *j = jobs; j < jobs + count; j++)
        begun += j->rung == 0;
    if (begun == mt_search_trials(search))
        return false;
    *next = (mt_job){ .trial = begun, .steps = mt_search_steps(search, 0) };
    next->point = sample(search, jobs, count, begun);
    return true;
}

int64_t mt_search_best(const mt_job *jobs, int64_t count)
{
    int64_t best = -1;
    for (int64_t i = 0; i < count; i++)
        if (jobs[i].state == MT_JOB_DONE && (best < 0 || jobs[i].rung > jobs[best].rung ||
                                             (jobs[i].rung == jobs[best].rung && jobs[i].value < jobs[best].value)))
            best = i;
    return best;
}
