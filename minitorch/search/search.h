/* search.h -- which trial to run next, as a pure function of what is known: the same history gives the same answer.
 *
 * A trial is a setting of the hyperparameters. A job runs it for a number of steps and gives a value, the smaller the
 * better. Without successive halving a trial is one job of `most` steps. With it (ASHA) there are rungs of least,
 * least x eta, least x eta^2 ... most steps: a trial begins on the lowest, and is promoted when it is among the best
 * 1/eta of those that have finished on its rung. Source: Li et al. 2020, arXiv:1810.05934, algorithm 2. */
#pragma once

#include "search/space.h"

MT_C_BEGIN

typedef enum mt_search_sampler {
    MT_SAMPLE_GRID,
    MT_SAMPLE_RANDOM,
    MT_SAMPLE_BAYES,
    MT_SAMPLE_EVOLVE
} mt_search_sampler;

typedef struct mt_search {
    mt_space space;
    mt_search_sampler sampler; /* where new trials come from */
    int64_t trials;            /* number of trials at most; a grid ends at its last point */
    int64_t least;             /* steps of the lowest rung, with eta */
    int64_t most;              /* steps of the highest, > 0 */
    int64_t eta;               /* >= 2; 0: no halving */
    uint64_t seed;
} mt_search;

typedef enum mt_job_state { MT_JOB_RUNNING, MT_JOB_DONE, MT_JOB_FAILED } mt_job_state;

typedef struct mt_job {
    int64_t trial, rung, steps;
    mt_point point;
    mt_job_state state;
    double value; /* of MT_JOB_DONE; a job that failed is worse than any */
} mt_job;

int64_t mt_search_trials(const mt_search *search); /* that it begins */
int64_t mt_search_rungs(const mt_search *search);
int64_t mt_search_steps(const mt_search *search, int64_t rung);
/* mt_search_cost -- steps of all jobs, promotions as many as the rungs' sizes say. */
int64_t mt_search_cost(const mt_search *search);

/* mt_search_next -- the next job, given all jobs so far, in the order in which they began. False: none now; and none
 * ever, if no job is running. */
bool mt_search_next(const mt_search *search, const mt_job *jobs, int64_t count, mt_job *next);

/* mt_search_best -- number of the job with the best value on the highest rung that has one (the first of equal ones);
 * -1: there is none. */
int64_t mt_search_best(const mt_job *jobs, int64_t count);

/* mt_search_ascending -- for qsort of doubles. */
int mt_search_ascending(const void *a, const void *b);

/* Where mt_search_next takes a new trial from; `jobs` as there. */
mt_point mt_sample_bayes(const mt_search *search, const mt_job *jobs, int64_t count, mt_rng *rng);
mt_point mt_sample_evolve(const mt_search *search, const mt_job *jobs, int64_t count, mt_rng *rng);

MT_C_END
