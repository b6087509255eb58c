/* 15-scheduler.c -- how the checks of the scheduler run (steps 15.12 to 15.14): against a clock that ticks second by
 * second, and against what must hold for any schedule. Rows: 15-scale.c. */
#include "checks/15-scale.h"
#include "checks/15-seconds.h"
#include "checks/fill.h"
#include "plan/scheduler.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FEW = 24, MOST = 150, CHANGES = 4000, WORDS = 300 };

typedef struct list {
    mt_sched_job jobs[MOST];
    int64_t count;
    mt_sched_cluster cluster;
} list;

/* ---- the clock -------------------------------------------------------------------------------------------------- */

/* One second after the other: what each job has, until all have ended. */
typedef struct clock {
    const list *of;
    int64_t now, has[MOST], left[MOST], order[MOST];
    mt_sched_run runs[MOST];
    bool ended[MOST];
} clock;

static void sort(clock *k)
{
    const list *l = k->of;
    bool placed[MOST] = { false };
    for (int64_t i = 0; i < l->count; i++) {
        int64_t first = -1;
        for (int64_t j = 0; j < l->count; j++) {
            int64_t key = l->jobs[j].arrival - l->cluster.aging * l->jobs[j].priority;
            if (!placed[j] && (first < 0 || key < l->jobs[first].arrival - l->cluster.aging * l->jobs[first].priority))
                first = j;
        }
        placed[first] = true;
        k->order[i] = first;
    }
}

static bool is_waiting(const clock *k, int64_t j)
{
    return !k->ended[j] && k->has[j] == 0 && k->of->jobs[j].arrival <= k->now;
}

static int64_t free_devices(const clock *k)
{
    int64_t free = k->of->cluster.devices;
    for (int64_t j = 0; j < k->of->count; j++)
        free -= k->has[j];
    return free;
}

static void begin(clock *k, int64_t j, int64_t devices)
{
    k->has[j] = devices;
    k->runs[j].start = k->now;
}

/* Free devices at a second to come, by the estimates. */
static int64_t free_at(const clock *k, int64_t second)
{
    int64_t free = k->of->cluster.devices;
    for (int64_t j = 0; j < k->of->count; j++)
        if (k->has[j] && k->runs[j].start + k->of->jobs[j].estimate > second)
            free -= k->has[j];
    return free;
}

/* Starts whole gangs; with backfill a job behind the head that would not delay it: tried, and taken back. */
static void start_gangs(clock *k)
{
    int64_t head = -1, reserved = 0;
    for (int64_t i = 0; i < k->of->count; i++) {
        int64_t j = k->order[i], wants = k->of->jobs[j].devices;
        if (!is_waiting(k, j))
            continue;
        if (head < 0 && wants <= free_devices(k)) {
            begin(k, j, wants);
        } else if (head < 0) {
            head = j;
            if (k->of->cluster.policy != MT_SCHED_BACKFILL)
                return;
            for (reserved = k->now; free_at(k, reserved) < k->of->jobs[head].devices;)
                reserved++;
        } else if (wants <= free_devices(k)) {
            begin(k, j, wants);
            if (free_at(k, reserved) < k->of->jobs[head].devices)
                k->has[j] = 0;
        }
    }
}

static void share(clock *k)
{
    int64_t is[MOST] = { 0 }, left = k->of->cluster.devices;
    bool blocked = false;
    for (int64_t j = 0; j < k->of->count; j++)
        left -= is[j] = k->has[j] ? k->of->jobs[j].least : 0;
    for (int64_t i = 0; i < k->of->count; i++) {
        int64_t j = k->order[i];
        if (!is_waiting(k, j) || blocked)
            continue;
        blocked = k->of->jobs[j].least > left;
        if (!blocked) {
            begin(k, j, 0);
            left -= is[j] = k->of->jobs[j].least;
        }
    }
    for (int64_t level = 1; left > 0 && level <= k->of->cluster.devices; level++) /* all up to a level, then the next */
        for (int64_t i = 0; i < k->of->count && left > 0; i++) {
            int64_t j = k->order[i];
            if (is[j] == level && level < k->of->jobs[j].devices)
                is[j]++, left--;
        }
    memcpy(k->has, is, sizeof is);
}

/* changes[second][job]: what each has from then on is compared with the answer. */
static bool tick(clock *k)
{
    bool any = false;
    for (int64_t j = 0; j < k->of->count; j++)
        if (k->has[j] && k->left[j] <= 0) {
            k->has[j] = 0;
            k->ended[j] = true;
            k->runs[j].end = k->now;
        }
    if (k->of->cluster.policy == MT_SCHED_ELASTIC)
        share(k);
    else
        start_gangs(k);
    for (int64_t j = 0; j < k->of->count; j++) {
        k->left[j] -= k->has[j];
        any |= !k->ended[j];
    }
    return any;
}

/* ---- judging ---------------------------------------------------------------------------------------------------- */

typedef struct answer {
    int64_t status, changes;
    const mt_sched_run *runs;
    const int64_t *change; /* time, job, devices */
    const char *words;
} answer;

static bool ask(mg_run *run, answer *a, const list *l)
{
    const int64_t cluster[3] = { l->cluster.devices, l->cluster.policy, l->cluster.aging };
    mg_begin(run, "mt_sched");
    mg_out(run, "status", MT_I64, MT_SHAPE(1));
    mg_out(run, "runs", MT_I64, MT_SHAPE(l->count, 2));
    mg_inout(run, "changes", MT_I64, MT_SHAPE(1 + 3 * CHANGES));
    mg_inout(run, "words", MT_U8, MT_SHAPE(WORDS));
    memcpy(mg_in(run, "jobs", MT_I64, MT_SHAPE(l->count, 6)), l->jobs, (size_t)l->count * sizeof *l->jobs);
    memcpy(mg_in(run, "cluster", MT_I64, MT_SHAPE(3)), cluster, sizeof cluster);
    if (!mg_call(run))
        return false;
    const int64_t *changes = mg_result(run, "changes");
    *a = (answer){ ((const int64_t *)mg_result(run, "status"))[0], changes[0], mg_result(run, "runs"), changes + 1,
                   mg_result(run, "words") };
    return true;
}

/* What holds for any schedule: devices, gangs, and a job runs from its arrival on, once. */
static bool is_schedule(mg_run *run, const list *l, const answer *a)
{
    int64_t has[MOST] = { 0 }, used = 0;
    bool ended[MOST] = { false };
    if (a->status != MT_OK || a->changes < 0 || a->changes > CHANGES)
        return mg_fail(run, "status %" PRId64 ", %" PRId64 " changes", a->status, a->changes);
    for (int64_t i = 0; i < a->changes; i++) {
        const int64_t *c = a->change + 3 * i;
        int64_t time = c[0], j = c[1];
        bool known = j >= 0 && j < l->count, last = i + 1 == a->changes || c[3] > time;
        if (!known || ended[j] || time < l->jobs[j].arrival || (i && time < c[-3]) || (!has[j] && !c[2]))
            return mg_fail(run, "second %" PRId64 ": job %" PRId64 " has %" PRId64 " devices: not there yet, or ended",
                           time, j, c[2]);
        int64_t least = l->cluster.policy == MT_SCHED_ELASTIC ? l->jobs[j].least : l->jobs[j].devices;
        if (c[2] && (c[2] < least || c[2] > l->jobs[j].devices))
            return mg_fail(run,
                           "second %" PRId64 ": job %" PRId64 " has %" PRId64 " devices, a part of its gang of %" PRId64
                           " to %" PRId64,
                           time, j, c[2], least, l->jobs[j].devices);
        used += c[2] - has[j];
        has[j] = c[2];
        ended[j] = c[2] == 0;
        if (last && used > l->cluster.devices)
            return mg_fail(run, "second %" PRId64 ": %" PRId64 " devices in use, there are %" PRId64, time, used,
                           l->cluster.devices);
    }
    for (int64_t j = 0; j < l->count; j++)
        if (!ended[j])
            return mg_fail(run, "job %" PRId64 " of %" PRId64 " devices never ends", j, l->jobs[j].devices);
    return true;
}

/* How many times as many devices, and seconds, a list is about, and how many seconds later. */
typedef struct scale {
    int64_t devices, seconds, later;
} scale;

static list scaled(list l, scale by)
{
    l.cluster.devices *= by.devices;
    l.cluster.aging *= by.seconds;
    for (mt_sched_job *job = l.jobs; job < l.jobs + l.count; job++) {
        job->devices *= by.devices;
        job->least *= by.devices;
        job->arrival = job->arrival * by.seconds + by.later;
        job->seconds *= by.seconds;
        job->estimate *= by.seconds;
    }
    return l;
}

/* Second by second, what each job has: the answer is about the list as it is scaled. */
static bool is_expected(mg_run *run, const list *l, const answer *a, scale by)
{
    clock k = { .of = l };
    int64_t has[MOST] = { 0 }, at = 0;
    sort(&k);
    for (int64_t j = 0; j < l->count; j++)
        k.left[j] = l->jobs[j].seconds * l->jobs[j].devices;
    for (bool more = true; more; k.now++) {
        more = tick(&k);
        for (; at < a->changes && a->change[3 * at] <= k.now * by.seconds + by.later; at++)
            has[a->change[3 * at + 1]] = a->change[3 * at + 2];
        for (int64_t j = 0; j < l->count; j++)
            if (has[j] != k.has[j] * by.devices)
                return mg_fail(run,
                               "%" PRId64 " devices, second %" PRId64 ": job %" PRId64 " (arrives %" PRId64
                               ", wants %" PRId64 ") has %" PRId64 " devices, expected %" PRId64,
                               l->cluster.devices * by.devices, k.now * by.seconds + by.later, j,
                               l->jobs[j].arrival * by.seconds + by.later, l->jobs[j].devices * by.devices, has[j],
                               k.has[j] * by.devices);
    }
    for (int64_t j = 0; j < l->count; j++) {
        int64_t start = k.runs[j].start * by.seconds + by.later, end = k.runs[j].end * by.seconds + by.later;
        if (a->runs[j].start != start || a->runs[j].end != end)
            return mg_fail(run,
                           "job %" PRId64 " runs from %" PRId64 " to %" PRId64 ", expected %" PRId64 " to %" PRId64, j,
                           a->runs[j].start, a->runs[j].end, start, end);
    }
    return true;
}

static list pick(mt_rng *rng, sched_about about, mt_sched_policy policy)
{
    list l = { .count = mg_pick(rng, 1, FEW), .cluster = { mg_pick(rng, 1, 16), policy, 0 } };
    l.cluster.aging = about == SCHED_PRIORITY ? mg_pick(rng, 1, 9) : 0;
    for (int64_t j = 0; j < l.count; j++) {
        mt_sched_job *job = &l.jobs[j];
        job->arrival = mg_pick(rng, 0, 60);
        job->devices = mg_pick(rng, 1, j % 3 == 0 ? l.cluster.devices : (l.cluster.devices + 3) / 4);
        if (about == SCHED_GANGS)
            job->devices = mg_pick(rng, (l.cluster.devices + 1) / 2, l.cluster.devices);
        job->least = mg_pick(rng, 1, job->devices);
        job->seconds = mg_pick(rng, 1, 30);
        job->estimate = job->seconds + (about == SCHED_EARLY ? mg_pick(rng, 0, 40) : 0);
        job->priority = mg_pick(rng, 0, 5);
    }
    return l;
}

/* Large numbers for a list: differences of times whose lower 32 bits have the other sign. With ELASTIC each job has all
 * its devices or none: else ends are rounded up, and devices are dealt one by one. */
static scale magnify(list *l)
{
    const int64_t seconds = (INT64_C(3) << 31) + 12345;
    if (l->cluster.policy != MT_SCHED_ELASTIC)
        return (scale){ (1 << 16) - 1, seconds, 0 };
    for (mt_sched_job *job = l->jobs; job < l->jobs + l->count; job++)
        job->least = job->devices;
    return (scale){ 63, seconds, 0 };
}

/* Many small jobs on a large cluster: all have come before the first ends, and 140 of them run at once. */
static void enlarge(list *l, mt_rng *rng)
{
    l->cluster.devices = MOST;
    l->count = MOST;
    for (mt_sched_job *job = l->jobs; job < l->jobs + l->count; job++) {
        int64_t seconds = mg_pick(rng, 60, 90), devices = (job - l->jobs) % 15 == 0 ? 2 : 1;
        *job = (mt_sched_job){ mg_pick(rng, 0, 40), devices, devices, seconds, seconds + mg_pick(rng, 0, 40), 0 };
    }
}

/* A valid list is scheduled before any is refused. */
static bool refuses(mg_run *run, const mg_15_wrong *wrong)
{
    list l = pick(mg_rng(run), SCHED_GANGS, MT_SCHED_FIFO);
    mt_sched_job *job = &l.jobs[mg_pick(mg_rng(run), 0, l.count - 1)];
    answer a;
    *job = (mt_sched_job){ 9, 16, 16, 9, 9, 1 };
    l.cluster.devices = 16;
    mg_15_spoil(run, job, wrong);
    if (!ask(run, &a, &l))
        return false;
    bool unchanged = !a.changes;
    for (int64_t k = 0; k < 2 * l.count; k++)
        unchanged = unchanged && ((const int64_t *)mg_result(run, "runs"))[k] == MG_15_UNCHANGED;
    if (!wrong || (a.status == MT_ERR_ARGUMENT && a.words[0] && unchanged))
        return wrong || is_schedule(run, &l, &a);
    return mg_fail(run, "status %" PRId64 ", \"%.80s\", *runs is %s", a.status, a.words,
                   unchanged ? "unchanged" : "written");
}

static void refusals(mg_run *run)
{
#define WRONG(...) MG_15_WRONG(mt_sched_job, __VA_ARGS__)
    static const mg_15_wrong wrong[] = {
        WRONG("a job larger than the cluster", devices, 17), WRONG("a job without devices", devices, 0),
        WRONG("a least above the devices", least, 17),       WRONG("an estimate below the seconds", estimate, 8),
        WRONG("an arrival before 0", arrival, -1),           WRONG("a priority above 1,000", priority, 1001),
    };
    bool good = refuses(run, NULL);
    for (int i = 0; i < MT_COUNT(wrong) && good; i++)
        good = refuses(run, &wrong[i]);
}

void mg_15_sched(mg_run *run, const void *one_case)
{
    enum { ANY, LATE, LARGE, NO_JOBS, ONE_JOB, MANY_JOBS };
    static const mg_idea tries[] = {
        { .times = 57 },
        { "late arrivals", "times are int64_t", LATE, .times = 30 },
        { "large numbers", "times, and products of times and devices, are int64_t", LARGE, .times = 30 },
        { "no jobs", "a list may be empty", NO_JOBS },
        { "a job of many devices", "a job may have any number of devices", ONE_JOB },
        { "many small jobs", "any number of jobs may wait, and run at once", MANY_JOBS },
    };
    const sched_case *c = one_case;
    if (c->about == SCHED_REFUSED) {
        refusals(run);
        return;
    }
    bool good = true;
    for (mg_ideas t = { 0 }; good && MG_NEXT(run, &t, tries, c->about);) {
        list l = pick(mg_rng(run), c->about, (mt_sched_policy)c->policy), asked;
        answer a;
        /* seconds that an f32 does not have, and between which the lower 32 bits change their sign */
        scale by = { 1, 1, t.is == LATE ? (INT64_C(1) << 39) + (INT64_C(1) << 31) - 30 : 0 };
        l.count = t.is == NO_JOBS ? 0 : t.is == ONE_JOB ? 1 : l.count;
        if (t.is == ONE_JOB) /* with ELASTIC they are dealt one by one */
            l.cluster.devices = l.jobs[0].devices = 70000;
        if (t.is == MANY_JOBS)
            enlarge(&l, mg_rng(run));
        if (t.is == LARGE)
            by = magnify(&l);
        asked = scaled(l, by);
        good = ask(run, &a, &asked) && is_schedule(run, &asked, &a) && is_expected(run, &l, &a, by);
    }
}
