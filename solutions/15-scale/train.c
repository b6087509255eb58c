/* train.c -- many steps on a cluster with slow devices, failures and checkpoints; see plan/train.h.
 *
 * Most steps are like the one before. A step is simulated (cluster.c) if a device changes its speed or fails during it,
 * or if no step with the speeds of now has been; all others are multiplications. */
#include "plan/train.h"

#include <math.h>
#include <stdlib.h>

/* A device begins to be slow (1), or ends it (-1). */
typedef struct change {
    double time;
    int slow;
} change;

typedef struct run {
    mt_cluster cluster; /* with the slow times and failures of devices that have tasks */
    const mt_cluster_tasks *tasks;
    const mt_cluster_job *job;
    mt_cluster_trained *out;
    change *changes; /* [2 * slows], in order of time */
    int64_t changed; /* so many of them have happened */
    int64_t slow;    /* devices that are slow now */
    double full;     /* seconds of a step at full speed */
    double steady;   /* of one at the speeds of now; NAN: not known */
    double now;
    double since;        /* which nothing is saved: the end of a save, or of a restart */
    int64_t done, saved; /* steps */
} run;

static int by_time(const void *a, const void *b)
{
    const change *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* The second of the next change of speed; INFINITY: none is to come. */
static double next_change(const run *r)
{
    return r->changed < 2 * r->cluster.slows ? r->changes[r->changed].time : INFINITY;
}

/* Changes of speed up to now have happened. */
static void pass_changes(run *r)
{
    /* LAB 15.18 BEGIN  After a change the seconds of a step are not known, but if no device is slow they are. */
    for (; next_change(r) <= r->now; r->changed++) {
        r->slow += r->changes[r->changed].slow;
        r->steady = NAN;
    }
    if (r->slow == 0)
        r->steady = r->full;
    /* LAB 15.18 END */
}

static void fail(run *r, double at)
{
    mt_goodput *time = &r->out->time;
    /* LAB 15.18 BEGIN  All steps since the last save are lost; after a restart the run goes on from there. */
    time->failures++;
    time->lost += at - r->since;
    time->restarting += r->job->restart;
    r->now = r->since =
        fmax(at + r->job->restart, nextafter(at, INFINITY)); /* after the failure, whatever restart is */
    r->done = r->saved;
    /* LAB 15.18 END */
}

/* The second of the next failure; INFINITY: none is to come. */
static double next_failure(const run *r)
{
    const mt_cluster_failure *failure = mt_cluster_next_failure(&r->cluster, r->tasks, r->now);
    return failure ? failure->time : INFINITY;
}

static void save(run *r)
{
    mt_goodput *time = &r->out->time;
    /* LAB 15.18 BEGIN  Complete if nothing fails before its end: then all steps since the last one are work that
     * lasts, and what they took longer than at full speed is waiting. */
    if (next_failure(r) < r->now + r->job->save) {
        fail(r, next_failure(r));
        return;
    }
    double work = (double)(r->done - r->saved) * r->full;
    time->work += work;
    time->waiting += fmax(0, r->now - r->since - work);
    time->saving += r->job->save;
    r->now = r->since = r->now + r->job->save;
    r->saved = r->done;
    /* LAB 15.18 END */
}

/* Simulates a step from now on. */
static mt_cluster_outcome walk(run *r, const mt_cluster *cluster)
{
    mt_cluster_outcome outcome = { 0 };
    mt_status status = mt_cluster_run(&outcome, NULL, cluster, r->tasks, r->now);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    r->out->walked++;
    r->out->events += outcome.events;
    return outcome;
}

/* One step, or several that take the same time, but not more than `most`. */
static void work(run *r, int64_t most)
{
    /* LAB 15.18 BEGIN  As many as end before a speed changes or a device fails; if the first does not, or its seconds
     * are not known, simulate it. Hint: what does a step that was simulated say about the ones behind it? */
    double calm = fmin(next_change(r), next_failure(r));
    if (r->now + r->steady <= calm) {
        double steps = fmin((double)most, fmax(1, floor((calm - r->now) / r->steady)));
        r->now += steps * r->steady;
        r->done += (int64_t)steps;
        return;
    }
    mt_cluster_outcome step = walk(r, &r->cluster);
    if (step.failed >= 0) {
        fail(r, step.end);
        return;
    }
    r->steady = step.end - r->now; /* if a speed has changed meanwhile, pass_changes takes it back */
    r->now = step.end;
    r->done++;
    /* LAB 15.18 END */
}

/* The run's own lists. */
static void take_lists(run *r, const mt_cluster *cluster)
{
    mt_cluster_slow *slow = mt_calloc(cluster->slows + 1, sizeof *slow);
    mt_cluster_failure *failure = mt_calloc(cluster->failures + 1, sizeof *failure);
    bool *used = mt_calloc(cluster->devices, sizeof *used);
    for (const mt_cluster_task *t = r->tasks->task; t < r->tasks->task + r->tasks->count; t++)
        for (int64_t i = 0; i < t->width; i++) {
            if (t->device >= 0)
                used[t->device + i] = true;
            if (t->to >= 0)
                used[t->to + i] = true;
        }
    r->cluster = *cluster;
    r->cluster.slows = r->cluster.failures = 0;
    r->changes = mt_calloc(2 * cluster->slows + 1, sizeof *r->changes);
    for (int64_t i = 0; i < cluster->slows; i++)
        if (used[cluster->slow[i].device]) {
            const mt_cluster_slow *s = &cluster->slow[i];
            r->changes[2 * r->cluster.slows] = (change){ s->begin, 1 };
            r->changes[2 * r->cluster.slows + 1] = (change){ s->end, -1 };
            slow[r->cluster.slows++] = *s;
        }
    for (int64_t i = 0; i < cluster->failures; i++)
        if (used[cluster->failure[i].device])
            failure[r->cluster.failures++] = cluster->failure[i];
    r->cluster.slow = slow;
    r->cluster.failure = failure;
    qsort(r->changes, (size_t)(2 * r->cluster.slows), sizeof *r->changes, by_time);
    free(used);
}

mt_status mt_cluster_train(mt_cluster_trained *out, const mt_cluster *cluster, const mt_cluster_tasks *tasks,
                           const mt_cluster_job *job)
{
    mt_status status = mt_cluster_check(cluster, tasks, 0);
    if (status != MT_OK)
        return status;
    if (job->steps < 1 || job->interval < 0 || !(job->save >= 0 && job->save < INFINITY) ||
        !(job->restart >= 0 && job->restart < INFINITY))
        return mt_fail(MT_ERR_ARGUMENT, "cluster: a run has at least one step, and an interval of steps, seconds of a "
                                        "save and of a restart that are not negative");
    *out = (mt_cluster_trained){ 0 };
    run r = { .tasks = tasks, .job = job, .out = out };
    take_lists(&r, cluster);
    mt_cluster calm = *cluster;
    calm.slows = calm.failures = 0;
    r.full = r.steady = walk(&r, &calm).end;
    while (r.saved < job->steps) {
        run before = r;
        pass_changes(&r);
        /* LAB 15.18 BEGIN  Steps up to the next one after which there is a save; then the save. */
        int64_t next = job->interval > 0 ? mt_min(r.saved + job->interval, job->steps) : job->steps;
        if (r.done == next)
            save(&r);
        else
            work(&r, next - r.done);
        /* LAB 15.18 END */
        MT_CHECK(r.now != before.now || r.done != before.done || r.saved != before.saved, "the run stands still");
    }
    out->time.seconds = r.now;
    out->time.share = r.now > 0 ? out->time.work / r.now : 1;
    free(r.changes);
    free((void *)r.cluster.slow);
    free((void *)r.cluster.failure);
    return MT_OK;
}
