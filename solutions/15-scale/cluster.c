/* cluster.c -- an event simulator of a cluster; see plan/cluster.h.
 *
 * Each task has at most one event to come, so the heap holds tasks, and an event that gets another time is moved. */
#include "plan/cluster.h"

#include <math.h>
#include <stdlib.h>

typedef enum phase {
    PHASE_READY, /* its event, after all before it: it joins its queues */
    PHASE_OPENS, /* its event: it begins to use its links */
    PHASE_RUNS,  /* its event: it ends */
} phase;

enum { COMPUTES, SENDS, RECEIVES, QUEUES }; /* queues of a device */
enum { INSIDE, OUT, IN, LINKS };            /* links of a machine */
enum { NONE = -1, ENDS_OF_A_TRANSFER = 2 };

typedef struct state {
    phase phase;
    int64_t waits;                      /* tasks before it that have not ended */
    int64_t edge;                       /* the first of its edges to tasks after it */
    int64_t behind[ENDS_OF_A_TRANSFER]; /* the next one in its queue, or in its queues; NONE */
    int64_t beside[ENDS_OF_A_TRANSFER]; /* the next one on its link, or on its links; NONE */
    double ended;                       /* the second at which it did; INFINITY */
    double left, rate, since;           /* a transfer on its links: bytes left at second `since`, bytes/s */
} state;

typedef struct event {
    double time;
    int64_t task;
} event;

typedef struct queue {
    int64_t first, last; /* tasks; NONE */
} queue;

typedef struct shared {
    int64_t first; /* transfer on it, if it is shared; NONE */
    int64_t flows; /* transfers on it, counted with their widths */
} shared;

typedef struct sim {
    const mt_cluster *is;
    const mt_cluster_task *task;
    int64_t count, machines;
    state *state;   /* [count] */
    event *heap;    /* [events] of [count], the next one first */
    int64_t *place; /* [count] of a task's event in the heap; NONE */
    int64_t events;
    int64_t *after, *next; /* [edges] the task at the end of an edge, and the next edge from the same task */
    queue *queue;          /* [devices * QUEUES] */
    shared *link;          /* [machines * LINKS] */
    double now;
    int64_t handled, ended; /* events, tasks */
} sim;

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool is_before(event a, event b)
{
    bool is = false;
    /* LAB 15.15 BEGIN  The earlier one; of two at the same second that of the task with the smaller index. */
    is = a.time < b.time || (a.time == b.time && a.task < b.task);
    /* LAB 15.15 END */
    return is;
}

static void put(sim *s, event e, int64_t place)
{
    s->heap[place] = e;
    s->place[e.task] = place;
}

/* Moves the event at a place of the heap to where it belongs. The children of place p are 2 p + 1 and 2 p + 2; none is
 * before its parent. */
static void settle(sim *s, int64_t place)
{
    event e = s->heap[place];
    /* LAB 15.15 BEGIN  Up while it is before its parent, then down while a child is before it.
     * Hint: one of the two loops does nothing. */
    for (; place > 0 && is_before(e, s->heap[(place - 1) / 2]); place = (place - 1) / 2)
        put(s, s->heap[(place - 1) / 2], place);
    for (int64_t child; (child = 2 * place + 1) < s->events; place = child) {
        child += child + 1 < s->events && is_before(s->heap[child + 1], s->heap[child]);
        if (!is_before(s->heap[child], e))
            break;
        put(s, s->heap[child], place);
    }
    /* LAB 15.15 END */
    put(s, e, place);
}

/* The task's event is now to come at this second, wherever it was. */
static void set_event(sim *s, int64_t task, double time, phase then)
{
    int64_t place = s->place[task] == NONE ? s->events++ : s->place[task];
    s->state[task].phase = then;
    put(s, (event){ time, task }, place);
    settle(s, place);
}

/* Takes the first event out of the heap: it is now. The task. */
static int64_t next_event(sim *s)
{
    event first = s->heap[0], last = s->heap[--s->events];
    s->place[first.task] = NONE;
    if (s->events > 0) {
        put(s, last, 0);
        settle(s, 0);
    }
    s->now = first.time;
    s->handled++;
    return first.task;
}

/* ---- computations ------------------------------------------------------------------------------------------------ */

/* The first slow time of a device that ends after a second; NULL: none. */
static const mt_cluster_slow *slow_after(const mt_cluster *c, int64_t device, double second)
{
    int64_t low = 0, high = c->slows;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        const mt_cluster_slow *s = &c->slow[middle];
        if (s->device < device || (s->device == device && s->end <= second))
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->slows && c->slow[low].device == device ? &c->slow[low] : NULL;
}

/* How many times as long the width devices of a task need for a computation now; *until: the second at which one of
 * them changes its speed. */
static double slowness(const mt_cluster *c, const mt_cluster_task *task, double now, double *until)
{
    double factor = 1;
    *until = INFINITY;
    for (int64_t i = 0; i < task->width; i++) {
        const mt_cluster_slow *slow = slow_after(c, task->device + i, now);
        /* LAB 15.17 BEGIN  The slowest of them; a slow time that is to come is a change, too. */
        if (slow && slow->begin <= now)
            factor = fmax(factor, slow->factor);
        if (slow)
            *until = fmin(*until, slow->begin <= now ? slow->end : slow->begin);
        /* LAB 15.17 END */
    }
    return factor;
}

/* The second at which a computation that begins now ends. */
static double end_of(const mt_cluster *c, const mt_cluster_task *task, double now)
{
    double left = task->seconds, until, factor = slowness(c, task, now, &until);
    /* LAB 15.17 BEGIN  At each change of speed some of the work has been done. */
    while (now + left * factor > until) {
        left -= (until - now) / factor;
        now = until;
        factor = slowness(c, task, now, &until);
    }
    /* LAB 15.17 END */
    return now + left * factor;
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

/* How often a task counts on a link of the machine of `device`. */
static int64_t flows_of(const sim *s, const mt_cluster_task *task, int64_t device)
{
    return mt_min(task->width, s->is->machine - device % s->is->machine);
}

/* The link of one end of a transfer, 0: where it begins; NULL: no link at this end. */
static shared *link_of(const sim *s, const mt_cluster_task *task, int end)
{
    int64_t from = task->device / s->is->machine, to = task->to / s->is->machine;
    if (from == to)
        return end == 0 ? &s->link[from * LINKS + INSIDE] : NULL;
    return end == 0 ? &s->link[from * LINKS + OUT] : &s->link[to * LINKS + IN];
}

static const mt_cluster_link *kind_of(const sim *s, const mt_cluster_task *task)
{
    return link_of(s, task, 1) ? &s->is->network : &s->is->inside;
}

/* Bytes/s of a transfer with what is on its links now. */
static double rate_of(const sim *s, const mt_cluster_task *task)
{
    const mt_cluster_link *kind = kind_of(s, task);
    double rate = kind->each;
    for (int end = 0; end < ENDS_OF_A_TRANSFER; end++) {
        const shared *link = link_of(s, task, end);
        /* LAB 15.16 BEGIN  An equal share of what the link can do, the less of two. */
        if (link)
            rate = fmin(rate, kind->all / (double)link->flows);
        /* LAB 15.16 END */
    }
    return rate;
}

/* The transfer's rate may have changed: what is left of it, and when it ends. */
static void flow_on(sim *s, int64_t task)
{
    state *t = &s->state[task];
    /* LAB 15.16 BEGIN  Up to now it flowed at the old rate. */
    t->left = fmax(0, t->left - t->rate * (s->now - t->since));
    t->since = s->now;
    t->rate = rate_of(s, &s->task[task]);
    set_event(s, task, s->now + t->left / t->rate, PHASE_RUNS);
    /* LAB 15.16 END */
}

/* The transfer joins the links at both of its ends, or leaves them: all that share one get other rates. */
static void change_links(sim *s, int64_t task, bool joins)
{
    const mt_cluster_task *is = &s->task[task];
    for (int end = 0; end < ENDS_OF_A_TRANSFER; end++) {
        shared *link = link_of(s, is, end);
        if (!link || isinf(kind_of(s, is)->all))
            continue;
        int64_t *at = &link->first, flows = flows_of(s, is, end == 0 ? is->device : is->to);
        link->flows += joins ? flows : -flows;
        for (; *at != (joins ? NONE : task); at = &s->state[*at].beside[end])
            ;
        *at = joins ? task : s->state[task].beside[end];
    }
    for (int end = 0; end < ENDS_OF_A_TRANSFER; end++) {
        const shared *link = link_of(s, is, end);
        for (int64_t t = link ? link->first : NONE; t != NONE; t = s->state[t].beside[end])
            flow_on(s, t);
    }
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* The queue of one end of a task; NULL: it has none at this end. */
static queue *queue_of(const sim *s, const mt_cluster_task *task, int end)
{
    if (task->device == NONE || (task->to == NONE && end == 1))
        return NULL;
    if (task->to == NONE)
        return &s->queue[task->device * QUEUES + COMPUTES];
    return end == 0 ? &s->queue[task->device * QUEUES + SENDS] : &s->queue[task->to * QUEUES + RECEIVES];
}

/* Begins if it is the first of all its queues. */
static void try_begin(sim *s, int64_t task)
{
    const mt_cluster_task *is = &s->task[task];
    for (int end = 0; end < ENDS_OF_A_TRANSFER; end++)
        if (queue_of(s, is, end) && queue_of(s, is, end)->first != task)
            return;
    if (is->to == NONE)
        set_event(s, task, end_of(s->is, is, s->now), PHASE_RUNS);
    else
        set_event(s, task, s->now + (double)is->messages * kind_of(s, is)->latency, PHASE_OPENS);
}

static void join_queues(sim *s, int64_t task)
{
    for (int end = 0; end < ENDS_OF_A_TRANSFER; end++) {
        queue *q = queue_of(s, &s->task[task], end);
        if (q) {
            *(q->first == NONE ? &q->first : &s->state[q->last].behind[end]) = task;
            q->last = task;
        }
    }
}

/* Leaves the queues of which it is the first; those behind it may begin. */
static void leave_queues(sim *s, int64_t task)
{
    for (int end = 0; end < ENDS_OF_A_TRANSFER; end++)
        if (queue_of(s, &s->task[task], end))
            queue_of(s, &s->task[task], end)->first = s->state[task].behind[end];
    for (int end = 0; end < ENDS_OF_A_TRANSFER; end++)
        if (s->state[task].behind[end] != NONE)
            try_begin(s, s->state[task].behind[end]);
}

static void end_task(sim *s, int64_t task)
{
    s->ended++;
    s->state[task].ended = s->now;
    leave_queues(s, task);
    /* LAB 15.15 BEGIN  Tasks that waited for nothing else are ready.
     * Hint: edges s->state[task].edge, s->next[...] lead to s->after[...]. */
    for (int64_t edge = s->state[task].edge; edge != NONE; edge = s->next[edge])
        if (--s->state[s->after[edge]].waits == 0)
            set_event(s, s->after[edge], s->now, PHASE_READY);
    /* LAB 15.15 END */
}

/* What happens at the task's event. */
static void handle(sim *s, int64_t task)
{
    const mt_cluster_task *is = &s->task[task];
    if (s->state[task].phase == PHASE_READY && is->device != NONE) {
        join_queues(s, task);
        try_begin(s, task);
    } else if (s->state[task].phase == PHASE_OPENS) {
        s->state[task].since = s->now;
        s->state[task].left = (double)is->bytes;
        change_links(s, task, true);
        if (s->place[task] == NONE)
            flow_on(s, task);
    } else {
        if (is->to != NONE)
            change_links(s, task, false);
        end_task(s, task);
    }
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void allocate(sim *s, const mt_cluster *cluster, const mt_cluster_tasks *tasks)
{
    int64_t edges = 0;
    for (int64_t i = 0; i < tasks->count; i++)
        edges += tasks->task[i].after;
    *s = (sim){ .is = cluster, .task = tasks->task, .count = tasks->count };
    s->machines = mt_ceil_div(cluster->devices, cluster->machine);
    s->state = mt_calloc(s->count, sizeof *s->state);
    s->heap = mt_calloc(s->count, sizeof *s->heap);
    s->place = mt_calloc(s->count, sizeof *s->place);
    s->after = mt_calloc(2 * edges, sizeof *s->after);
    s->next = s->after + edges;
    s->queue = mt_calloc(cluster->devices * QUEUES, sizeof *s->queue);
    s->link = mt_calloc(s->machines * LINKS, sizeof *s->link);
}

/* All tasks wait, those that are after none are ready. */
static void begin_tasks(sim *s, const mt_cluster_tasks *tasks, double begin)
{
    int64_t edge = 0;
    for (int64_t i = 0; i < s->is->devices * QUEUES; i++)
        s->queue[i].first = NONE;
    for (int64_t i = 0; i < s->machines * LINKS; i++)
        s->link[i].first = NONE;
    for (int64_t i = 0; i < s->count; i++) {
        s->state[i] = (state){ .edge = NONE, .ended = INFINITY, .behind = { NONE, NONE }, .beside = { NONE, NONE } };
        s->place[i] = NONE;
    }
    s->now = begin;
    for (int64_t i = s->count - 1; i >= 0; i--) {
        s->state[i].waits = s->task[i].after;
        for (int64_t k = 0; k < s->task[i].after; k++, edge++) {
            state *before = &s->state[tasks->after[s->task[i].first + k]];
            s->after[edge] = i;
            s->next[edge] = before->edge;
            before->edge = edge;
        }
        if (s->task[i].after == 0)
            set_event(s, i, begin, PHASE_READY);
    }
}

/* Handles events up to the second `until`, that included. */
static void handle_events(sim *s, double until)
{
    /* LAB 15.15 BEGIN  One event after the other. */
    while (s->events > 0 && s->heap[0].time <= until)
        handle(s, next_event(s));
    /* LAB 15.15 END */
}

const mt_cluster_failure *mt_cluster_next_failure(const mt_cluster *cluster, const mt_cluster_tasks *tasks,
                                                  double second)
{
    const mt_cluster_failure *found = NULL;
    /* LAB 15.17 BEGIN  A device that no task is on may fail. */
    for (int64_t i = 0; i < cluster->failures && !found; i++)
        if (cluster->failure[i].time >= second && mt_cluster_uses(tasks, cluster->failure[i].device))
            found = &cluster->failure[i];
    /* LAB 15.17 END */
    return found;
}

mt_status mt_cluster_run(mt_cluster_outcome *out, double *ends, const mt_cluster *cluster,
                         const mt_cluster_tasks *tasks, double begin)
{
    mt_status status = mt_cluster_check(cluster, tasks, begin);
    if (status != MT_OK)
        return status;
    sim s;
    allocate(&s, cluster, tasks);
    begin_tasks(&s, tasks, begin);
    const mt_cluster_failure *failure = mt_cluster_next_failure(cluster, tasks, begin);
    handle_events(&s, failure ? failure->time : INFINITY);
    bool fails = failure && s.ended < s.count;
    *out = (mt_cluster_outcome){ fails ? failure->time : s.now, fails ? failure->device : NONE, s.handled };
    for (int64_t i = 0; i < s.count && ends; i++)
        ends[i] = s.state[i].ended;
    void *const made[] = { s.state, s.heap, s.place, s.after, s.queue, s.link };
    for (int i = 0; i < MT_COUNT(made); i++)
        free(made[i]);
    return MT_OK;
}
