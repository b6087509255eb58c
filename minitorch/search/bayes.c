/* bayes.c -- Bayesian search: the point where a Gaussian process expects the largest improvement. */
#include <math.h>
#include <stdlib.h>

#include "search/gauss.h"
#include "search/search.h"

enum { RANDOM_CANDIDATES = 256, NEAR_CANDIDATES = 128 };

/* So that squares are finite. */
static double bounded(double value)
{
    return fmin(fmax(value, -1e100), 1e100);
}

/* Takes over the jobs of the lowest rung, which all trials have; the newest, if there are too many. Values become
 * standardised. A running trial counts as average, so that the next one is elsewhere; what failed or is far above the
 * median counts as that far above it, so that one huge value does not flatten all others. */
static void observe(mt_gauss *g, const mt_job *jobs, int64_t count)
{
    double sorted[MT_GAUSS_POINTS], mean = 0, square = 0;
    const mt_job *from[MT_GAUSS_POINTS];
    int64_t known = 0;
    for (const mt_job *j = jobs + count - 1; j >= jobs && g->count < MT_GAUSS_POINTS; j--)
        if (j->rung == 0) {
            if (j->state == MT_JOB_DONE)
                sorted[known++] = bounded(j->value);
            g->point[g->count] = j->point;
            from[g->count++] = j;
        }
    qsort(sorted, (size_t)known, sizeof *sorted, mt_search_ascending);
    double median = known ? sorted[known / 2] : 0, cap = known ? median + 3 * (median - sorted[0]) : 1;
    for (int64_t i = 0; i < g->count; i++)
        g->value[i] = from[i]->state == MT_JOB_DONE     ? fmin(bounded(from[i]->value), cap)
                      : from[i]->state == MT_JOB_FAILED ? cap
                                                        : median;
    for (int64_t i = 0; i < g->count; i++)
        mean += g->value[i] / (double)g->count;
    for (int64_t i = 0; i < g->count; i++)
        square += (g->value[i] - mean) * (g->value[i] - mean) / (double)g->count;
    for (int64_t i = 0; i < g->count; i++)
        g->value[i] = (g->value[i] - mean) / (square > 0 ? sqrt(square) : 1);
}

/* A candidate: anywhere, or near the best point. */
static mt_point candidate(const mt_space *space, const mt_point *best, int64_t number, mt_rng *rng)
{
    if (number < RANDOM_CANDIDATES)
        return mt_space_random(space, rng);
    mt_point near = *best;
    double distance = number % 2 ? 0.1 : 0.02;
    for (int64_t d = 0; d < space->count; d++)
        near.at[d] = space->dimension[d].kind != MT_SPACE_CHOICE
                         ? mt_space_snap(space, d, near.at[d] + distance * mt_rng_normal(rng))
                     : mt_rng_uniform(rng) < 0.2f ? mt_space_snap(space, d, mt_rng_uniform(rng))
                                                  : near.at[d];
    return near;
}

mt_point mt_sample_bayes(const mt_search *search, const mt_job *jobs, int64_t count, mt_rng *rng)
{
    const mt_space *space = &search->space;
    int64_t known = 0, best = 0;
    for (const mt_job *j = jobs; j < jobs + count; j++)
        known += j->rung == 0 && j->state == MT_JOB_DONE;
    if (known < 2 * space->count + 2)
        return mt_space_random(space, rng);
    mt_gauss *g = mt_calloc(1, sizeof *g);
    g->space = space;
    observe(g, jobs, count);
    mt_gauss_fit(g);
    for (int64_t i = 1; i < g->count; i++)
        best = g->value[i] < g->value[best] ? i : best;
    mt_point most = { 0 };
    double highest = -1;
    for (int64_t c = 0; c < RANDOM_CANDIDATES + NEAR_CANDIDATES; c++) {
        double mean, deviation;
        mt_point point = candidate(space, &g->point[best], c, rng);
        mt_gauss_predict(g, &point, &mean, &deviation);
        double improvement = mt_gauss_improvement(mean, deviation, g->value[best]);
        if (improvement > highest) {
            highest = improvement;
            most = point;
        }
    }
    free(g);
    return most;
}
