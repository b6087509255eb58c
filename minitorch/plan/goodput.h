/* goodput.h -- how much of the time of a training run is work that is not lost? Closed forms of a run with failures,
 * checkpoints, restarts and stragglers; ckpt/interval.h simulates one run of one machine.
 *
 *     mt_goodput_job job = { .devices = 1024, .mtbf = 5e6, .save = 60, .restart = 300, .slow = 1e-4, .slowdown = 0.5 };
 *     mt_goodput run;
 *     if (mt_goodput_of(&run, &job, 7 * 86400, mt_goodput_interval(&job)) == MT_OK)
 *         printf("%.1f %% of the time is work\n", 100 * run.share);
 *
 * Failures are exponentially distributed. All devices stop when one fails, restart together, and begin again at the
 * last save that was complete; nothing fails during a restart. A piece of t seconds and its save of C seconds, on a
 * cluster that fails each M seconds on average, is begun exp((t + C) / M) times on average.
 * Sources: Young, CACM 1974; Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps",
 * Future Generation Computer Systems 2006. Unit: solutions/15-scale/goodput.c */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_goodput_job {
    int64_t devices; /* that work in step: each waits for all others */
    double mtbf;     /* seconds from a start to the failure of one device, mean; INFINITY: none fails */
    double save;     /* seconds of a checkpoint, > 0; no device works meanwhile */
    double restart;  /* seconds from a failure until the run goes on */
    double slow;     /* probability that a device is slow in a step, independently for each device and step: 0 .. 1 */
    double slowdown; /* a step that a slow device takes part in lasts 1 + slowdown times as long */
} mt_goodput_job;

/* Means over all runs. seconds = work + waiting + saving + lost + restarting; INFINITY: the run never ends. */
typedef struct mt_goodput {
    double seconds;
    double work;       /* the computation that the run consists of */
    double waiting;    /* for stragglers, in pieces that last */
    double saving;     /* in saves that became complete */
    double lost;       /* from the last save to a failure */
    double restarting; /* after failures */
    double failures;   /* how many */
    double share;      /* work / seconds: the goodput */
} mt_goodput;

/* mt_goodput_mtbf -- mean seconds to a failure of any device.   Lab 15.10 */
double mt_goodput_mtbf(const mt_goodput_job *job);

/* mt_goodput_interval -- seconds from the end of a save to the start of the next one, for which the goodput is highest.
 * Exact, where Young's (lab 12) assumes that the interval is short beside the time between failures. INFINITY: nothing
 * fails, save at the end only. job: as mt_goodput_of accepts it.   Lab 15.10 */
double mt_goodput_interval(const mt_goodput_job *job);

/* mt_goodput_stretch -- mean duration of a step over that of a step without stragglers: 1 .. 1 + slowdown.
 * Lab 15.11 */
double mt_goodput_stretch(const mt_goodput_job *job);

/* mt_goodput_of -- a run of `work` seconds (without failures, saves and stragglers) with a save each `interval` seconds
 * (work and waiting; INFINITY: none between) and one at the end. The last piece may be shorter; a last piece below 1e-9
 * of the interval belongs to the one before it.
 * Fails: MT_ERR_ARGUMENT, *out unchanged: no devices; a time that is negative or NaN; work, a save, an interval or
 * an mtbf of 0; a probability outside 0 .. 1.   Lab 15.11 */
mt_status mt_goodput_of(mt_goodput *out, const mt_goodput_job *job, double work, double interval);

MT_C_END
