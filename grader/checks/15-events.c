/* 15-events.c -- see 15-events.h. Work and bytes that are left are counted down from each event to the next. */
#include "checks/15-events.h"

#include <math.h>

enum { WAITS, QUEUED, OPENS, COMPUTES, FLOWS, ENDED };

typedef struct one {
    int state;
    long double at;   /* WAITS with nothing before it: the second at which it is ready; OPENS: its links */
    long double left; /* seconds of work, or bytes */
    int64_t turn;     /* when it joined its queues */
} one;

typedef struct all {
    const mt_cluster *c;
    const mt_cluster_tasks *tasks;
    one is[MG_EVENTS_TASKS];
    long double now;
    int64_t turns;
} all;

static bool is_inside(const all *a, const mt_cluster_task *t)
{
    return t->device / a->c->machine == t->to / a->c->machine;
}

/* Devices of the width that are in the same machine as the first. */
static int64_t share(const all *a, int64_t width, int64_t device)
{
    int64_t n = 0;
    for (int64_t i = 0; i < width; i++)
        n += (device + i) / a->c->machine == device / a->c->machine;
    return n;
}

/* How many transfers are on the link that transfer t uses at one of its ends. */
static int64_t beside(const all *a, const mt_cluster_task *t, bool out)
{
    int64_t n = 0, machine = (out ? t->device : t->to) / a->c->machine;
    for (int64_t i = 0; i < a->tasks->count; i++) {
        const mt_cluster_task *u = &a->tasks->task[i];
        if (a->is[i].state != FLOWS || is_inside(a, u) != is_inside(a, t))
            continue;
        if ((out || is_inside(a, t) ? u->device : u->to) / a->c->machine == machine)
            n += share(a, u->width, out || is_inside(a, t) ? u->device : u->to);
    }
    return n;
}

/* Work or bytes a second, now. */
static long double speed(const all *a, int64_t task)
{
    const mt_cluster_task *t = &a->tasks->task[task];
    if (a->is[task].state == FLOWS) {
        const mt_cluster_link *l = is_inside(a, t) ? &a->c->inside : &a->c->network;
        long double out = (long double)l->all / (long double)beside(a, t, true);
        long double in = (long double)l->all / (long double)beside(a, t, false);
        return fminl(l->each, fminl(out, in));
    }
    long double factor = 1;
    for (int64_t i = 0; i < a->c->slows; i++) {
        const mt_cluster_slow *s = &a->c->slow[i];
        if (s->device >= t->device && s->device < t->device + t->width && s->begin <= a->now && a->now < s->end)
            factor = fmaxl(factor, s->factor);
    }
    return 1 / factor;
}

static bool share_a_queue(const mt_cluster_task *t, const mt_cluster_task *u)
{
    if (t->device < 0 || u->device < 0 || (t->to < 0) != (u->to < 0))
        return false;
    return t->device == u->device || (t->to >= 0 && t->to == u->to);
}

static bool is_first(const all *a, int64_t task)
{
    for (int64_t i = 0; i < a->tasks->count; i++)
        if (i != task && a->is[i].turn > 0 && a->is[i].turn < a->is[task].turn && a->is[i].state != ENDED &&
            share_a_queue(&a->tasks->task[i], &a->tasks->task[task]))
            return false;
    return true;
}

static bool is_free(const all *a, int64_t task)
{
    const mt_cluster_task *t = &a->tasks->task[task];
    for (int64_t k = 0; k < t->after; k++)
        if (a->is[a->tasks->after[t->first + k]].state != ENDED)
            return false;
    return true;
}

/* What is first in its queues begins; what has nothing before it is ready. */
static void look(all *a)
{
    for (int64_t i = 0; i < a->tasks->count; i++) {
        const mt_cluster_task *t = &a->tasks->task[i];
        if (a->is[i].state == WAITS && isinf(a->is[i].at) && is_free(a, i))
            a->is[i].at = a->now;
        if (a->is[i].state != QUEUED || !is_first(a, i))
            continue;
        a->is[i].state = t->to < 0 ? COMPUTES : OPENS;
        a->is[i].left = t->to < 0 ? (long double)t->seconds : (long double)t->bytes;
        if (t->to >= 0)
            a->is[i].at = a->now + (long double)t->messages * (is_inside(a, t) ? a->c->inside : a->c->network).latency;
    }
}

static long double event_of(const all *a, int64_t task)
{
    const one *o = &a->is[task];
    if (o->state == WAITS || o->state == OPENS)
        return o->at;
    return o->state == COMPUTES || o->state == FLOWS ? a->now + o->left / speed(a, task) : INFINITY;
}

/* From now to a second: what flows and computes goes on. */
static void go_on(all *a, long double to)
{
    long double speeds[MG_EVENTS_TASKS] = { 0 };
    for (int64_t i = 0; i < a->tasks->count; i++)
        if (a->is[i].state == COMPUTES || a->is[i].state == FLOWS)
            speeds[i] = speed(a, i);
    for (int64_t i = 0; i < a->tasks->count; i++)
        a->is[i].left -= speeds[i] * (to - a->now);
    a->now = to;
}

static long double next_speed(const all *a)
{
    long double next = INFINITY;
    for (int64_t i = 0; i < a->c->slows; i++) {
        const mt_cluster_slow *s = &a->c->slow[i];
        if (s->begin > a->now)
            next = fminl(next, s->begin);
        if (s->end > a->now)
            next = fminl(next, s->end);
    }
    return next;
}

static void happen(all *a, mg_events *out, int64_t task)
{
    one *o = &a->is[task];
    if (o->state == WAITS && a->tasks->task[task].device >= 0) {
        o->state = QUEUED;
        o->turn = ++a->turns;
    } else if (o->state == OPENS) {
        o->state = FLOWS;
    } else {
        o->state = ENDED;
        out->ends[task] = out->end = (double)a->now;
    }
}

static const mt_cluster_failure *failure_from(const mt_cluster *c, const mt_cluster_tasks *tasks, double second)
{
    for (int64_t i = 0; i < c->failures; i++)
        for (int64_t k = 0; k < tasks->count; k++) {
            const mt_cluster_task *t = &tasks->task[k];
            int64_t from = c->failure[i].device - t->device, to = c->failure[i].device - t->to;
            bool on = (t->device >= 0 && from >= 0 && from < t->width) || (t->to >= 0 && to >= 0 && to < t->width);
            if (on && c->failure[i].time >= second)
                return &c->failure[i];
        }
    return NULL;
}

void mg_events_run(mg_events *out, const mt_cluster *c, const mt_cluster_tasks *tasks, double begin)
{
    all a = { .c = c, .tasks = tasks, .now = begin };
    const mt_cluster_failure *failure = failure_from(c, tasks, begin);
    *out = (mg_events){ .end = begin, .failed = -1 };
    for (int64_t i = 0; i < tasks->count; i++) {
        a.is[i].at = INFINITY;
        out->ends[i] = INFINITY;
    }
    for (int64_t ended = 0; ended < tasks->count;) {
        int64_t first = -1;
        long double least = INFINITY, change = next_speed(&a);
        look(&a);
        for (int64_t i = 0; i < tasks->count; i++)
            if (event_of(&a, i) < least)
                least = event_of(&a, first = i);
        if (failure && fminl(least, change) > failure->time) {
            out->end = failure->time;
            out->failed = failure->device;
            return;
        }
        go_on(&a, fminl(least, change));
        if (least > change)
            continue;
        happen(&a, out, first);
        ended += a.is[first].state == ENDED;
    }
}

/* Changes of speed of devices that have tasks, up to a second; `slow` devices then; and the next change. */
typedef struct speeds {
    int64_t changes, slow;
    double next;
} speeds;

static speeds speeds_at(const mt_cluster *c, const mt_cluster_tasks *tasks, double second)
{
    speeds are = { 0, 0, INFINITY };
    for (int64_t i = 0; i < c->slows; i++) {
        const mt_cluster_slow *s = &c->slow[i];
        const mt_cluster_failure like = { second, s->device };
        mt_cluster only = { .failure = &like, .failures = 1 };
        if (!failure_from(&only, tasks, second))
            continue;
        are.changes += (s->begin <= second) + (s->end <= second);
        are.slow += s->begin <= second && second < s->end;
        are.next = fmin(are.next, s->begin > second ? s->begin : INFINITY);
        are.next = fmin(are.next, s->end > second ? s->end : INFINITY);
    }
    return are;
}

/* One step after the other. */
void mg_events_train(mt_goodput *out, int64_t *walked, const mt_cluster *c, const mt_cluster_tasks *tasks,
                     const mt_cluster_job *job)
{
    mg_events step;
    mt_cluster calm = *c;
    double now = 0, since = 0, full;
    int64_t done = 0, saved = 0, known = -1; /* the seconds of a step since so many changes */
    calm.slows = calm.failures = 0;
    mg_events_run(&step, &calm, tasks, 0);
    full = step.end;
    *walked = 1;
    *out = (mt_goodput){ 0 };
    while (saved < job->steps) {
        const mt_cluster_failure *next = failure_from(c, tasks, now);
        double fails = INFINITY;
        if (done == job->steps || (job->interval > 0 && done - saved == job->interval)) {
            if (next && next->time < now + job->save) {
                fails = next->time;
            } else {
                out->work += (double)(done - saved) * full;
                double waited = now - since - (double)(done - saved) * full;
                /* of several steps some may be shorter, and others wait */
                out->waiting += waited > -1e-9 * now ? waited : done - saved == 1 ? 0 : NAN;
                out->saving += job->save;
                saved = done;
                since = now += job->save;
            }
        } else {
            speeds are = speeds_at(c, tasks, now);
            mg_events_run(&step, c, tasks, now);
            *walked += step.failed >= 0 || step.end > are.next || (are.slow > 0 && known != are.changes);
            if (step.failed >= 0)
                fails = step.end;
            else
                known = are.changes, now = step.end, done++;
        }
        if (isinf(fails))
            continue;
        out->failures++;
        out->lost += fails - since;
        out->restarting += job->restart;
        since = now = fmax(fails + job->restart, nextafter(fails, INFINITY));
        done = saved;
    }
    out->seconds = now;
    out->share = out->work / now;
}
