/* tasks.c -- lists of tasks, and what is not a cluster or not a list of tasks; see cluster.h. */
#include "plan/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

mt_cluster_tasks *mt_cluster_tasks_new(void)
{
    return mt_calloc(1, sizeof(mt_cluster_tasks));
}

void mt_cluster_tasks_free(mt_cluster_tasks *tasks)
{
    if (!tasks)
        return;
    free(tasks->task);
    free(tasks->after);
    free(tasks);
}

static void *grown(void *array, int64_t *room, int64_t count, size_t size)
{
    if (count <= *room)
        return array;
    *room = 2 * count + 64;
    array = realloc(array, (size_t)*room * size);
    MT_CHECK(array, "out of memory");
    return array;
}

int64_t mt_cluster_add(mt_cluster_tasks *tasks, mt_cluster_task task, const int64_t *after, int n)
{
    tasks->task = grown(tasks->task, &tasks->room, tasks->count + 1, sizeof *tasks->task);
    tasks->after = grown(tasks->after, &tasks->afters_room, tasks->afters + n, sizeof *tasks->after);
    task.first = tasks->afters;
    for (int i = 0; i < n; i++)
        if (after[i] != -1)
            tasks->after[tasks->afters++] = after[i];
    task.after = tasks->afters - task.first;
    tasks->task[tasks->count] = task;
    return tasks->count++;
}

bool mt_cluster_uses(const mt_cluster_tasks *tasks, int64_t device)
{
    for (const mt_cluster_task *t = tasks->task; t < tasks->task + tasks->count; t++)
        if ((t->device >= 0 && device >= t->device && device < t->device + t->width) ||
            (t->to >= 0 && device >= t->to && device < t->to + t->width))
            return true;
    return false;
}

mt_cluster mt_cluster_of(const mt_plan_problem *p)
{
    const mt_plan_device *d = &p->device;
    return (mt_cluster){ .devices = p->devices,
                         .machine = d->machine,
                         .inside = { d->latency, d->link, INFINITY },
                         .network = { d->latency, d->network, INFINITY } };
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

#define REFUSE(...) return mt_fail(MT_ERR_ARGUMENT, "cluster: " __VA_ARGS__)

static mt_status check_link(const mt_cluster_link *l, const char *name)
{
    if (!(l->latency >= 0 && l->latency < INFINITY))
        REFUSE("the latency of %s is %g s: write 0 or more seconds", name, l->latency);
    if (!(l->each > 0 && l->each < INFINITY))
        REFUSE("a transfer on %s has %g bytes/s: write more than 0, and a number", name, l->each);
    if (!(l->all > 0))
        REFUSE("all transfers on %s have %g bytes/s: write more than 0, INFINITY if they do not share", name, l->all);
    return MT_OK;
}

static bool has(const mt_cluster *c, int64_t device, int64_t width)
{
    return device >= 0 && width >= 1 && device < c->devices && width <= c->devices - device;
}

static mt_status check_lists(const mt_cluster *c)
{
    for (int64_t i = 0; i < c->slows; i++) {
        const mt_cluster_slow *s = &c->slow[i], *before = i > 0 ? s - 1 : NULL;
        if (!has(c, s->device, 1))
            REFUSE("slow time %" PRId64 " is of device %" PRId64 ", and there are %" PRId64, i, s->device, c->devices);
        if (!(s->begin >= 0 && s->begin < s->end && s->factor >= 1 && s->factor < INFINITY))
            REFUSE("slow time %" PRId64 " is from %g s to %g s by %g: 0 <= begin < end, factor >= 1", i, s->begin,
                   s->end, s->factor);
        if (before && (before->device > s->device || (before->device == s->device && before->end > s->begin)))
            REFUSE("slow time %" PRId64 ": sort them by device and begin; those of a device do not overlap", i);
    }
    for (int64_t i = 0; i < c->failures; i++) {
        const mt_cluster_failure *f = &c->failure[i];
        if (!has(c, f->device, 1))
            REFUSE("failure %" PRId64 " is of device %" PRId64 ", and there are %" PRId64, i, f->device, c->devices);
        if (!(f->time >= 0 && f->time < INFINITY) || (i > 0 && f->time < f[-1].time))
            REFUSE("failure %" PRId64 " is at %g s: times are not negative, and sorted", i, f->time);
    }
    return MT_OK;
}

static mt_status check_task(const mt_cluster *c, const mt_cluster_tasks *tasks, int64_t i)
{
    const mt_cluster_task *t = &tasks->task[i];
    bool is_moment = t->device == -1 && t->to == -1 && t->width >= 1;
    if (!is_moment && !has(c, t->device, t->width))
        REFUSE("task %" PRId64 " is on devices %" PRId64 " .. %" PRId64 ", and there are %" PRId64, i, t->device,
               t->device + t->width - 1, c->devices);
    if (t->to != -1 && (!has(c, t->to, t->width) || t->to == t->device))
        REFUSE("task %" PRId64 " sends from device %" PRId64 " to %" PRId64 ": write another one, of %" PRId64, i,
               t->device, t->to, c->devices);
    if (!(t->seconds >= 0 && t->seconds < INFINITY) || t->bytes < 0 || t->messages < 0)
        REFUSE("task %" PRId64 " has %g s, %" PRId64 " bytes, %" PRId64 " messages: write 0 or more", i, t->seconds,
               t->bytes, t->messages);
    if (t->first < 0 || t->after < 0 || t->first > tasks->afters || t->after > tasks->afters - t->first)
        REFUSE("task %" PRId64 " is after tasks that are not in the list", i);
    for (int64_t k = t->first; k < t->first + t->after; k++)
        if (tasks->after[k] < 0 || tasks->after[k] >= tasks->count)
            REFUSE("task %" PRId64 " is after task %" PRId64 ", and there are %" PRId64, i, tasks->after[k],
                   tasks->count);
    return MT_OK;
}

/* The tasks of a cycle, in words, each of them after the next one. path [length] */
static mt_status cycle(const int64_t *path, int64_t length)
{
    char words[400] = "";
    for (int64_t i = 0, at = 0; i <= length && i < 12; i++)
        at += snprintf(words + at, sizeof words - (size_t)at, "%s%" PRId64, i ? " after " : "",
                       i < 11 ? path[i % length] : path[0]);
    REFUSE("tasks wait for each other: %s%s", words, length > 11 ? " (and others between)" : "");
}

/* A walk from task to the tasks before it, as deep as they go: one that it meets again on its way is in a cycle. */
static mt_status check_cycles(const mt_cluster_tasks *tasks)
{
    enum { NEW, ON_THE_WAY, FINE };
    int64_t *path = mt_calloc(tasks->count + 1, sizeof *path), *seen = mt_calloc(tasks->count + 1, sizeof *seen);
    char *mark = mt_calloc(tasks->count + 1, 1);
    mt_status status = MT_OK;
    for (int64_t i = 0; i < tasks->count && status == MT_OK; i++) {
        int64_t depth = 0;
        if (mark[i] == NEW)
            mark[path[depth++] = i] = ON_THE_WAY;
        while (depth > 0 && status == MT_OK) {
            const mt_cluster_task *t = &tasks->task[path[depth - 1]];
            int64_t next = seen[path[depth - 1]] < t->after ? tasks->after[t->first + seen[path[depth - 1]]++] : -1;
            if (next == -1)
                mark[path[--depth]] = FINE;
            else if (mark[next] == NEW)
                mark[path[depth++] = next] = ON_THE_WAY;
            else if (mark[next] == ON_THE_WAY) {
                int64_t from = depth - 1;
                while (path[from] != next)
                    from--;
                status = cycle(path + from, depth - from);
            }
        }
    }
    free(path);
    free(seen);
    free(mark);
    return status;
}

mt_status mt_cluster_check(const mt_cluster *c, const mt_cluster_tasks *tasks, double begin)
{
    if (c->devices < 1 || c->devices > MT_CLUSTER_MOST || c->machine < 1)
        REFUSE("%" PRId64 " devices, %" PRId64 " in a machine: write 1 to %d, and at least 1", c->devices, c->machine,
               MT_CLUSTER_MOST);
    if (!(begin >= 0 && begin < INFINITY) || c->slows < 0 || c->failures < 0)
        REFUSE("a run begins at %g s: write 0 or more", begin);
    mt_status status = check_link(&c->inside, "links inside of machines");
    if (status == MT_OK)
        status = check_link(&c->network, "links between machines");
    if (status == MT_OK)
        status = check_lists(c);
    bool later = false; /* a task is after one that is not before it in the list: there may be cycles */
    for (int64_t i = 0; i < tasks->count && status == MT_OK; i++) {
        status = check_task(c, tasks, i);
        for (int64_t k = 0; status == MT_OK && k < tasks->task[i].after; k++)
            later |= tasks->after[tasks->task[i].first + k] >= i;
    }
    return status == MT_OK && later ? check_cycles(tasks) : status;
}
