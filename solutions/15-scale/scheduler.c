/* scheduler.c -- FIFO, backfill and elastic jobs in virtual time; see plan/scheduler.h. */
#include "plan/scheduler.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- jobs and devices ---------------------------------------------------------------------------------------- */

typedef struct task {
    const mt_sched_job *job;
    int64_t index;
    int64_t has;  /* devices */
    int64_t left; /* device-seconds */
    bool ended;
} task;

typedef struct cluster {
    const mt_sched_cluster *is;
    task *tasks; /* [count], in the order of the queue */
    int64_t count, free, now;
    mt_sched_run *runs; /* [count] */
    mt_sched_tell *tell;
    void *context;
} cluster;

/* Whether a is before b in the queue. */
static bool is_before(const mt_sched_job *a, const mt_sched_job *b, int64_t aging)
{
    bool is = false;
    /* LAB 15.12 BEGIN  A priority is worth `aging` seconds of waiting. */
    is = a->arrival - a->priority * aging < b->arrival - b->priority * aging;
    /* LAB 15.12 END */
    return is;
}

static bool waits(const cluster *c, const task *t)
{
    return !t->ended && t->has == 0 && t->job->arrival <= c->now;
}

/* From now on the task has so many devices. */
static void give(cluster *c, task *t, int64_t devices)
{
    if (devices == t->has)
        return;
    if (t->has == 0)
        c->runs[t->index].start = c->now;
    c->free += t->has - devices;
    t->has = devices;
    if (c->tell)
        c->tell(c->context, c->now, t->index, devices);
}

/* The first of the queue; NULL: nothing waits. */
static task *head_of(const cluster *c)
{
    for (task *t = c->tasks; t < c->tasks + c->count; t++)
        if (waits(c, t))
            return t;
    return NULL;
}

/* ---- policies: what starts now ------------------------------------------------------------------------------- */

static void start_in_order(cluster *c)
{
    /* LAB 15.12 BEGIN  As long as the first of the queue fits, all its devices at once.
     * Hint: nothing overtakes a head that does not fit (head_of, give). */
    for (task *head; (head = head_of(c)) && head->job->devices <= c->free;)
        give(c, head, head->job->devices);
    /* LAB 15.12 END */
}

/* The second by which a running task has ended, if it takes as long as estimated. */
static int64_t estimated_end(const cluster *c, const task *t)
{
    return c->runs[t->index].start + t->job->estimate;
}

/* The earliest second at which the head, which does not fit now, fits by the estimates; *spare: devices that it leaves
 * free then. */
static int64_t reserve(const cluster *c, const task *head, int64_t *spare)
{
    int64_t at = INT64_MAX;
    *spare = 0;
    /* LAB 15.13 BEGIN  A second at which a task ends, by which enough have ended.
     * Hint: for each running task, count what is free when it ends: what is free now, and the devices of all that end
     * by then. */
    for (const task *t = c->tasks; t < c->tasks + c->count; t++) {
        int64_t end = t->has ? estimated_end(c, t) : INT64_MAX, free = c->free;
        for (const task *u = c->tasks; u < c->tasks + c->count; u++)
            if (u->has && estimated_end(c, u) <= end)
                free += u->has;
        if (t->has && free >= head->job->devices && end < at) {
            at = end;
            *spare = free - head->job->devices;
        }
    }
    /* LAB 15.13 END */
    return at;
}

static void backfill(cluster *c)
{
    task *head = head_of(c);
    if (!head)
        return;
    /* LAB 15.13 BEGIN  Tasks behind the head that fit now, and do not delay it.
     * Hint: one that ends after the reservation uses up spare devices, which the next one does not have. */
    int64_t spare, at = reserve(c, head, &spare);
    for (task *t = head + 1; t < c->tasks + c->count; t++) {
        int64_t wants = t->job->devices;
        bool ends = c->now + t->job->estimate <= at;
        if (!waits(c, t) || wants > c->free || (!ends && wants > spare))
            continue;
        give(c, t, wants);
        spare -= ends ? 0 : wants;
    }
    /* LAB 15.13 END */
}

/* The running or starting task that gets the next device: shares[i] of tasks[i], 0: not running; NULL: all have all. */
static task *poorest(const cluster *c, const int64_t *shares)
{
    task *found = NULL;
    /* LAB 15.14 BEGIN  The fewest devices of those that have not all; of equal ones the first. */
    for (int64_t i = 0; i < c->count; i++)
        if (shares[i] && shares[i] < c->tasks[i].job->devices && (!found || shares[i] < shares[found - c->tasks]))
            found = &c->tasks[i];
    /* LAB 15.14 END */
    return found;
}

static void deal(cluster *c)
{
    int64_t *shares = calloc((size_t)c->count + 1, sizeof *shares), left = c->is->devices;
    MT_CHECK(shares, "out of memory");
    /* LAB 15.14 BEGIN  The jobs that run, each with its least; then one device after the other.
     * Hint: tasks are in the order of the queue. Running ones keep their least before any other starts; the first that
     * waits and does not fit stops those behind it. */
    for (int64_t i = 0; i < c->count; i++)
        if (c->tasks[i].has)
            left -= shares[i] = c->tasks[i].job->least;
    for (task *t = head_of(c); t && t < c->tasks + c->count; t++) {
        if (!waits(c, t))
            continue;
        if (t->job->least > left)
            break;
        left -= shares[t - c->tasks] = t->job->least;
    }
    for (task *t; left > 0 && (t = poorest(c, shares)); left--)
        shares[t - c->tasks]++;
    /* LAB 15.14 END */
    for (int64_t i = 0; i < c->count; i++)
        if (shares[i])
            give(c, &c->tasks[i], shares[i]);
    free(shares);
}

/* ---- time ---------------------------------------------------------------------------------------------------- */

/* The next second in which a job arrives or ends; INT64_MAX: none is left. */
static int64_t next_event(const cluster *c)
{
    int64_t next = INT64_MAX;
    /* LAB 15.12 BEGIN  The earliest arrival after now, or end of a task with the devices that it has. */
    for (const task *t = c->tasks; t < c->tasks + c->count; t++) {
        if (t->has)
            next = mt_min(next, c->now + (t->left + t->has - 1) / t->has);
        else if (!t->ended && t->job->arrival > c->now)
            next = mt_min(next, t->job->arrival);
    }
    /* LAB 15.12 END */
    return next;
}

static void advance(cluster *c, int64_t to)
{
    int64_t passed = to - c->now;
    c->now = to;
    for (task *t = c->tasks; t < c->tasks + c->count; t++) {
        if (!t->has)
            continue;
        t->left -= passed * t->has;
        if (t->left > 0)
            continue;
        t->ended = true;
        c->runs[t->index].end = to;
        give(c, t, 0);
    }
}

/* ---- what is asked for --------------------------------------------------------------------------------------- */

static mt_status check(const mt_sched_job *jobs, int64_t count, const mt_sched_cluster *c)
{
    const int64_t most = INT64_C(1) << 40, devices = 1 << 20;
    if (c->devices < 1 || c->devices > devices || c->aging < 0 || c->aging > most || count < 0)
        return mt_fail(MT_ERR_ARGUMENT, "scheduler: a cluster has 1 to %" PRId64 " devices, and aging is not below 0",
                       devices);
    for (int64_t i = 0; i < count; i++) {
        const mt_sched_job *j = &jobs[i];
        if (j->arrival < 0 || j->arrival > most || j->seconds < 1 || j->estimate < j->seconds || j->estimate > most)
            return mt_fail(MT_ERR_ARGUMENT,
                           "scheduler: job %" PRId64 " has no times: 0 <= arrival, "
                           "1 <= seconds <= estimate",
                           i);
        if (j->least < 1 || j->least > j->devices || j->priority < 0 || j->priority > 1000)
            return mt_fail(MT_ERR_ARGUMENT,
                           "scheduler: job %" PRId64 ": 1 <= least <= devices, priorities are 0 to "
                           "1000",
                           i);
        if (j->devices > c->devices)
            return mt_fail(MT_ERR_ARGUMENT,
                           "scheduler: job %" PRId64 " wants %" PRId64 " devices, the cluster has %" PRId64
                           ": it would wait for ever",
                           i, j->devices, c->devices);
    }
    return MT_OK;
}

/* Puts task i, behind a queue of i, to its place. */
static void insert(task *tasks, int64_t i, int64_t aging)
{
    task t = tasks[i];
    for (; i > 0 && is_before(t.job, tasks[i - 1].job, aging); i--)
        tasks[i] = tasks[i - 1];
    tasks[i] = t;
}

mt_status mt_sched(mt_sched_run *runs, const mt_sched_job *jobs, int64_t count, const mt_sched_cluster *is,
                   mt_sched_tell *tell, void *context)
{
    mt_status status = check(jobs, count, is);
    if (status != MT_OK)
        return status;
    task *tasks = calloc((size_t)count + 1, sizeof *tasks);
    MT_CHECK(tasks, "out of memory");
    cluster c = { is, tasks, count, is->devices, -1, runs, tell, context };
    for (int64_t i = 0; i < count; i++) {
        tasks[i] = (task){ &jobs[i], i, 0, jobs[i].seconds * jobs[i].devices, false };
        insert(tasks, i, is->aging);
    }
    for (int64_t next; (next = next_event(&c)) != INT64_MAX;) {
        advance(&c, next);
        if (is->policy == MT_SCHED_ELASTIC)
            deal(&c);
        else
            start_in_order(&c);
        if (is->policy == MT_SCHED_BACKFILL)
            backfill(&c);
    }
    free(tasks);
    return MT_OK;
}

/* ---- fairness ------------------------------------------------------------------------------------------------ */

double mt_sched_slowdown(const mt_sched_job *job, const mt_sched_run *run)
{
    double slowdown = 0;
    /* LAB 15.14 BEGIN  Waiting counts. */
    slowdown = (double)(run->end - job->arrival) / (double)job->seconds;
    /* LAB 15.14 END */
    return slowdown;
}

double mt_sched_fairness(const double *x, int64_t n)
{
    double index = 0;
    /* LAB 15.14 BEGIN  The square of the sum, over n times the sum of squares. */
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    index = squares > 0 ? sum * sum / ((double)n * squares) : 1;
    /* LAB 15.14 END */
    return index;
}
