/* interval.h -- how often to save. Unit: solutions/12-checkpoints/interval.c.
 *
 * A save takes C seconds, and the machine fails once in M seconds on average. Saving every t seconds of work costs the
 * part C / t of the time, and a failure costs the work since the last save, t / 2 on average, so t / 2M of the time.
 * Some t makes the sum least. Source: Young, "A First Order Approximation to the Optimum Checkpoint
 * Interval", CACM 1974. */
#pragma once

#include "core/rng.h"

MT_C_BEGIN

/* mt_young_interval -- seconds of work between two saves. cost, mtbf: C, M > 0.   Lab 12.6 */
double mt_young_interval(double cost, double mtbf);

/* A run, in virtual seconds. */
typedef struct mt_run_plan {
    double work;     /* that it needs, > 0 */
    double interval; /* of work between two saves; there is one at the end */
    double cost;     /* of a save */
    double restart;  /* from a failure until the run goes on */
    double mtbf;     /* mean time from one start to the next failure, exponentially distributed */
} mt_run_plan;

/* mt_run_waste -- the part of a run's time in which no work was done that lasted, 0 .. 1, with failures by rng. A
 * failure takes all work since the last save that was complete. Nothing fails during a restart.   Lab 12.6 */
double mt_run_waste(const mt_run_plan *plan, mt_rng *rng);

MT_C_END
