/* goodput.c -- the best time between checkpoints, and the share of a run's time that is work; see plan/goodput.h. */
#include "plan/goodput.h"

#include <math.h>

/* ---- the interval -------------------------------------------------------------------------------------------- */

double mt_goodput_mtbf(const mt_goodput_job *job)
{
    double mean = 0;
    /* TODO 15.10: The first of `devices` failures. */
    MT_TODO("15.10"); /* delete this line when yours stands here */
    return mean;
}

double mt_goodput_interval(const mt_goodput_job *job)
{
    double mtbf = mt_goodput_mtbf(job), x = 0;
    if (job->mtbf == INFINITY)
        return INFINITY;
    /* TODO 15.10: x = t / M, where (exp((t + C) / M) - 1) / t is least.
     * Hint: the derivative is 0 where f(x) = (1 - x) exp(x) - exp(-C / M) is; f'(x) = -x exp(x). Newton's method from
     * Young's interval (lab 12), sqrt(2 C M), at most from x = 1, comes down to the zero and cannot miss it. expm1
     * keeps digits. */
    MT_TODO("15.10"); /* delete this line when yours stands here */
    return x * mtbf;
}

/* ---- the run ------------------------------------------------------------------------------------------------- */

double mt_goodput_stretch(const mt_goodput_job *job)
{
    double stretch = 0;
    /* TODO 15.11: A step is slow unless no device is.
     * Hint: with 100,000 devices and a probability of 1e-9, 1 - p has lost digits; log1p and expm1 have not. */
    MT_TODO("15.11"); /* delete this line when yours stands here */
    return stretch;
}

/* Adds `count` pieces of `piece` seconds, each with its save. */
static void add_pieces(mt_goodput *sum, const mt_goodput_job *job, double count, double piece)
{
    double mtbf = mt_goodput_mtbf(job), once = piece + job->save;
    if (count == 0) /* even where one would never end */
        return;
    /* TODO 15.11: Saves that became complete, failures before each of them, and what these cost.
     * Hint: a piece is begun exp(once / M) times, once without a failure. All attempts together last (on average)
     * M seconds for each failure: those that failed last what is left without the one that did not. Nothing of this
     * with an M of INFINITY. */
    MT_TODO("15.11"); /* delete this line when yours stands here */
    if (job->restart == 0) /* infinitely many restarts would make it NaN */
        sum->restarting = 0;
}

static bool at_least(double x, double least)
{
    return x >= least && x < INFINITY;
}

/* NULL, or why this is not a run. */
static const char *check(const mt_goodput_job *job, double work, double interval)
{
    if (job->devices < 1)
        return "a job has at least one device";
    if (!(job->mtbf > 0) || !(interval > 0))
        return "the time between failures and the interval are above 0 (INFINITY: no failures, no saves between)";
    if (!at_least(work, 0) || work == 0 || !at_least(job->save, 0) || job->save == 0)
        return "work and a save take more than 0 seconds";
    if (!at_least(job->restart, 0) || !at_least(job->slowdown, 0))
        return "a restart and a slowdown are not below 0";
    return job->slow >= 0 && job->slow <= 1 ? NULL : "the probability of a slow device is between 0 and 1";
}

mt_status mt_goodput_of(mt_goodput *out, const mt_goodput_job *job, double work, double interval)
{
    mt_goodput sum = { 0 };
    const char *refused = check(job, work, interval);
    if (refused)
        return mt_fail(MT_ERR_ARGUMENT, "goodput: %s", refused);
    /* TODO 15.11: Work and waiting are cut into pieces of the interval; the last one is what remains.
     * Hint: a short run, or an interval of INFINITY, is one piece. A quotient of doubles can be a little more than the
     * whole number that it should be. */
    MT_TODO("15.11"); /* delete this line when yours stands here */
    *out = sum;
    return MT_OK;
}
