/* bench_goodput.c -- what failures cost, and what a scheduler is worth, by the units of lab 15: the share of a run's
 * time that is work, for more and more devices and several times between saves; and one list of jobs on one cluster by
 * each policy.
 *
 *     build/release/bin/bench_goodput
 *
 * Nothing is measured: the same figures on every machine. A device fails once in 50,700 hours: Llama 3's run on 16,384
 * had 419 unexpected interruptions in 54 days (Dubey et al. 2024, arXiv:2407.21783, sec. 3.3.4). The last line is for
 * programs: `bench_goodput: share=0.8538 slowdown=6.77`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "plan/goodput.h"
#include "plan/scheduler.h"
#include "cli/cli.h"

static const mt_option flags[] = { { 0 } };

/* ---- failures ------------------------------------------------------------------------------------------------ */

static const double DAY = 86400, HOUR = 3600, MINUTE = 60;

/* The share of a run of 54 days' work with a save each `interval` seconds. */
static double share(const mt_goodput_job *job, double interval)
{
    mt_goodput run;
    return mt_goodput_of(&run, job, 54 * DAY, interval) == MT_OK ? run.share : NAN;
}

/* The share with 16,384 devices and the best interval. */
static double print_failures(void)
{
    double of_16384 = NAN;
    mt_goodput_job job = { .mtbf = 50700 * HOUR, .save = MINUTE, .restart = 10 * MINUTE };
    printf("54 days' work; a save takes 1 minute, a restart 10; a device fails once in 50,700 hours\n");
    printf("  %8s %14s %12s %12s %10s %10s %10s\n", "devices", "fails after h", "Young, min", "best, min", "by Young",
           "at best", "each 2 h");
    for (job.devices = 256; job.devices <= 1 << 20; job.devices *= 4) {
        double mtbf = mt_goodput_mtbf(&job), young = sqrt(2 * job.save * mtbf), best = mt_goodput_interval(&job);
        printf("  %8" PRId64 " %14.2f %12.1f %12.1f %9.2f%% %9.2f%% %9.2f%%\n", job.devices, mtbf / HOUR,
               young / MINUTE, best / MINUTE, 100 * share(&job, young), 100 * share(&job, best),
               100 * share(&job, 2 * HOUR));
        of_16384 = job.devices == 16384 ? share(&job, best) : of_16384;
    }
    return of_16384;
}

/* ---- the scheduler ------------------------------------------------------------------------------------------- */

enum { JOBS = 400, DEVICES = 64 };

/* Gangs of 1, 2, 4 ... 64, few large ones; 1 to 100 minutes, which owners estimate up to four times too long. */
static void fill_jobs(mt_sched_job *jobs)
{
    mt_rng rng = mt_rng_new(20261123, MT_STREAM_USER);
    int64_t now = 0;
    for (int64_t i = 0; i < JOBS; i++) {
        int64_t devices = INT64_C(1) << mt_min(mt_rng_below(&rng, 7), mt_rng_below(&rng, 7));
        int64_t seconds = 60 + mt_rng_below(&rng, 6000);
        now += mt_rng_below(&rng, 600);
        jobs[i] =
            (mt_sched_job){ now, devices, mt_max(devices / 4, 1), seconds, seconds * (1 + mt_rng_below(&rng, 4)), 0 };
    }
}

/* The mean slowdown; NaN: the list was refused. */
static double print_policy(const char *name, mt_sched_policy policy, const mt_sched_job *jobs)
{
    const mt_sched_cluster cluster = { .devices = DEVICES, .policy = policy };
    mt_sched_run runs[JOBS];
    double slowdown[JOBS], sum = 0, most = 0, work = 0;
    int64_t end = 0;
    if (mt_sched(runs, jobs, JOBS, &cluster, NULL, NULL) != MT_OK)
        return NAN;
    for (int64_t i = 0; i < JOBS; i++) {
        slowdown[i] = mt_sched_slowdown(&jobs[i], &runs[i]);
        sum += slowdown[i];
        most = fmax(most, slowdown[i]);
        work += (double)(jobs[i].seconds * jobs[i].devices);
        end = mt_max(end, runs[i].end);
    }
    printf("  %-9s %9.2f %9.1f %9.3f %11.1f %9.1f%%\n", name, sum / JOBS, most, mt_sched_fairness(slowdown, JOBS),
           (double)end / HOUR, 100 * work / ((double)end * DEVICES));
    return sum / JOBS;
}

static double print_scheduler(void)
{
    mt_sched_job jobs[JOBS];
    fill_jobs(jobs);
    printf("\n%d jobs on %d devices; slowdown: from arrival to end, over the seconds on all devices\n", JOBS, DEVICES);
    printf("  %-9s %9s %9s %9s %11s %10s\n", "policy", "slowdown", "the worst", "Jain's", "all end, h", "busy");
    print_policy("FIFO", MT_SCHED_FIFO, jobs);
    double backfill = print_policy("backfill", MT_SCHED_BACKFILL, jobs);
    print_policy("elastic", MT_SCHED_ELASTIC, jobs);
    return backfill;
}

int main(int argc, char **argv)
{
    char none;
    mt_cli_parse(argc, argv, "What failures cost, and what a scheduler is worth.", flags, &none);
    double of_16384 = print_failures(), slowdown = print_scheduler();
    if (isnan(of_16384) || isnan(slowdown))
        return mt_cli_exit(MT_ERR_ARGUMENT);
    printf("bench_goodput: share=%.4f slowdown=%.2f\n", of_16384, slowdown);
    return 0;
}
