/* bench_cluster.c -- 10,000 training steps of GPT-3 on 1,024 simulated A100s, by the units of lab 15: a step against
 * the planner's law, machines that share one network card, slow devices and failures; and what simulating costs.
 *
 *     build/release/bin/bench_cluster
 *     build/release/bin/bench_cluster --steps 1000
 *
 * All but the last table is the same on every machine. The last line is for programs:
 * `bench_cluster: days=3.30 walked=180 seconds=3.6`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "plan/gpt2_tasks.h"
#include "plan/train.h"
#include "cli/cli.h"

enum { DEVICES = 1024, SLOWS = 80, FAILURES = 20 };

typedef struct options {
    int64_t steps;
} options;

static const mt_option flags[] = {
    { "steps", 's', "N", MT_I64(options, steps, 1, 1000000), "Steps of the run (10000)" },
    { 0 },
};

static const mt_plan_strategy strategy = { 16, 8, 8, 1, 2048, 96, 0, MT_RECOMPUTE_NONE, MT_BF16, false };

/* Seconds of a step with so many network cards in a machine; 0: one for each device. */
static double step_with(const mt_plan_problem *p, const mt_cluster_tasks *step, double cards)
{
    mt_cluster cluster = mt_cluster_of(p);
    mt_cluster_outcome out = { 0 };
    if (cards > 0)
        cluster.network.all = cards * cluster.network.each;
    mt_status status = mt_cluster_run(&out, NULL, &cluster, step, 0);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    return out.end;
}

static void print_step(const mt_plan_problem *p, const mt_cluster_tasks *step)
{
    mt_plan_estimate law = mt_plan_estimate_of(p, &strategy);
    printf("A step of GPT-3 on %d A100, dp 16, pp 8, tp 8, 96 micro-batches: %" PRId64 " tasks\n", DEVICES,
           step->count);
    printf("  %-44s %8.3f s\n", "planner.c", law.step);
    printf("  %-44s %8.3f s\n", "simulated, a network card for each device", step_with(p, step, 0));
    for (int cards = 4; cards >= 1; cards /= 2)
        printf("  simulated, %d in a machine of 8                %8.3f s\n", cards, step_with(p, step, cards));
}

/* Some device is slow for some minutes, again and again; another one fails. */
static void fill_lists(mt_cluster_slow *slow, mt_cluster_failure *failure, double seconds)
{
    for (int i = 0; i < SLOWS; i++) {
        double begin = seconds * (i * 37 % SLOWS) / SLOWS;
        slow[i] = (mt_cluster_slow){ i * (DEVICES / SLOWS), begin, begin + 600, 1.5 };
    }
    for (int i = 0; i < FAILURES; i++)
        failure[i] = (mt_cluster_failure){ seconds * (i + 0.7) / FAILURES, i * 391 % DEVICES };
}

static mt_cluster_trained train(const mt_cluster *cluster, const mt_cluster_tasks *step, int64_t steps,
                                int64_t interval)
{
    mt_cluster_job job = { steps, interval, 60, 300 };
    mt_cluster_trained run = { 0 };
    mt_status status = mt_cluster_train(&run, cluster, step, &job);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    return run;
}

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
    options o = { .steps = 10000 };
    mt_cli_parse(argc, argv, "A training run on a simulated cluster.", flags, &o);
    mt_plan_problem p = mt_plan_gpt3();
    mt_cluster_tasks *step = mt_cluster_tasks_new();
    mt_status status = mt_cluster_step(step, &p, &strategy, 1);
    if (status != MT_OK)
        return mt_cli_exit(status);
    print_step(&p, step);
    mt_cluster_slow slow[SLOWS];
    mt_cluster_failure failure[FAILURES];
    mt_cluster cluster = mt_cluster_of(&p);
    fill_lists(slow, failure, (double)o.steps * step_with(&p, step, 0));
    cluster.slow = slow, cluster.slows = SLOWS;
    cluster.failure = failure, cluster.failures = FAILURES;
    printf("\n%" PRId64 " steps, %d slow times of 600 s by 1.5, %d failures; a save takes 60 s, a restart 300 s\n",
           o.steps, SLOWS, FAILURES);
    printf("  %-14s %8s %8s %8s %8s %8s %8s\n", "a save each", "days", "work", "waiting", "saving", "lost", "restart");
    mt_cluster_trained run;
    static const int64_t intervals[] = { 10, 30, 100, 300, 1000 };
    for (int i = 0; i < MT_COUNT(intervals); i++) {
        run = train(&cluster, step, o.steps, intervals[i]);
        double share = 100 / run.time.seconds;
        printf("  %4" PRId64 " steps     %8.3f %7.2f%% %7.2f%% %7.2f%% %7.2f%% %7.2f%%\n", intervals[i],
               run.time.seconds / 86400, share * run.time.work, share * run.time.waiting, share * run.time.saving,
               share * run.time.lost, share * run.time.restarting);
    }
    double begin = mt_now(), before = peak_mb();
    run = train(&cluster, step, o.steps, 100);
    double seconds = mt_now() - begin;
    printf("\nSimulated one by one: %" PRId64 " of %" PRId64 " steps, %" PRId64 " events, in %.2f s (%.1f M events/s); "
           "peak %.0f MB, %.0f MB before\n",
           run.walked, o.steps, run.events, seconds, (double)run.events / seconds / 1e6, peak_mb(), before);
    printf("bench_cluster: days=%.2f walked=%" PRId64 " seconds=%.2f\n", run.time.seconds / 86400, run.walked, seconds);
    mt_cluster_tasks_free(step);
    return 0;
}
