/* 15-cluster.c -- how the checks of the simulator run (steps 15.15 to 15.17): against 15-events.c, which looks at all
 * tasks at each event. Training on it: 15-train.c; real ranks: 15-ranks.c; rows: 15-scale.c. */
#include "checks/15-events.h"
#include "checks/15-scale.h"
#include "checks/15-seconds.h"
#include "checks/15-world.h"
#include "checks/fill.h"
#include "worker/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DEVICES = 12 };

static int64_t bits(double x)
{
    int64_t n;
    memcpy(&n, &x, sizeof n);
    return n;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

void mg_15_put_world(mg_run *run, const mg_15_world *w)
{
    const mt_cluster *c = &w->is;
    const int64_t numbers[MG_CLUSTER_NUMBERS] = { c->devices,
                                                  c->machine,
                                                  bits(c->inside.latency),
                                                  bits(c->inside.each),
                                                  bits(c->inside.all),
                                                  bits(c->network.latency),
                                                  bits(c->network.each),
                                                  bits(c->network.all),
                                                  bits(w->begin) };
    memcpy(mg_in(run, "cluster", MT_I64, MT_SHAPE(MG_CLUSTER_NUMBERS)), numbers, sizeof numbers);
    memcpy(mg_in(run, "slow", MT_I64, MT_SHAPE(4 * c->slows)), w->slow, (size_t)c->slows * sizeof *w->slow);
    memcpy(mg_in(run, "failures", MT_I64, MT_SHAPE(2 * c->failures)), w->failure,
           (size_t)c->failures * sizeof *w->failure);
    memcpy(mg_in(run, "tasks", MT_I64, MT_SHAPE(MG_TASK_COLUMNS * w->tasks.count)), w->tasks.task,
           (size_t)w->tasks.count * sizeof *w->task);
    memcpy(mg_in(run, "after", MT_I64, MT_SHAPE(w->tasks.afters)), w->after,
           (size_t)w->tasks.afters * sizeof *w->after);
}

typedef struct reply {
    int64_t status, failed;
    double end;
    const double *ends;
    const char *words;
} reply;

static bool ask_run(mg_run *run, reply *r, const mg_15_world *w)
{
    mg_begin(run, "mt_cluster_run");
    mg_out(run, "status, failed", MT_I64, MT_SHAPE(2));
    mg_out(run, "end", MT_I64, MT_SHAPE(1));
    mg_out(run, "ends", MT_I64, MT_SHAPE(w->tasks.count));
    mg_inout(run, "words", MT_U8, MT_SHAPE(MG_15_WORDS));
    mg_15_put_world(run, w);
    if (!mg_call(run))
        return false;
    r->status = ((const int64_t *)mg_result(run, "status, failed"))[0];
    r->failed = ((const int64_t *)mg_result(run, "status, failed"))[1];
    memcpy(&r->end, mg_result(run, "end"), sizeof r->end);
    r->ends = mg_result(run, "ends");
    r->words = mg_result(run, "words");
    return true;
}

/* ---- random worlds ----------------------------------------------------------------------------------------------- */

void mg_15_add_task(mg_15_world *w, mt_rng *rng, cluster_about about)
{
    int64_t i = w->tasks.count++, wide = about == CLUSTER_WIDE ? mg_pick(rng, 1, 5) : 1;
    mt_cluster_task *t = &w->task[i];
    bool whole = about == CLUSTER_TIES, sends = about != CLUSTER_TASKS && mg_pick(rng, 0, 2) > 0;
    *t = (mt_cluster_task){ .device = -1, .to = -1, .width = wide, .first = w->tasks.afters };
    if (mg_pick(rng, 0, 9) > 0) {
        t->device = mg_pick(rng, 0, w->is.devices - wide);
        t->seconds = sends ? 0 : whole ? (double)mg_pick(rng, 0, 3) : mg_15_real(rng, 0, 9);
    }
    if (sends && t->device >= 0) {
        do
            t->to = mg_pick(rng, 0, w->is.devices - wide);
        while (t->to == t->device);
        int64_t most = whole ? 3 : about == CLUSTER_MESSAGES && mg_pick(rng, 0, 29) == 0 ? INT64_C(1) << 40 : 900;
        t->bytes = mg_pick(rng, 0, 3) == 0 ? 0 : mg_pick(rng, 1, most);
        t->messages = mg_pick(rng, 0, 3);
    }
    for (int64_t k = mg_pick(rng, 0, 2); k > 0 && i > 0; k--) {
        w->after[w->tasks.afters++] = mg_pick(rng, i > 8 ? i - 8 : 0, i - 1);
        t->after++;
    }
}

/* Some of the tasks change places: a task may be after one with a larger number. */
static void shuffle(mg_15_world *w, mt_rng *rng)
{
    for (int64_t i = w->tasks.count - 1; i > 0; i--) {
        int64_t j = mg_pick(rng, 0, i);
        mt_cluster_task swapped = w->task[i];
        w->task[i] = w->task[j];
        w->task[j] = swapped;
        for (int64_t k = 0; k < w->tasks.afters; k++)
            w->after[k] = w->after[k] == i ? j : w->after[k] == j ? i : w->after[k];
    }
}

static mt_cluster_link pick_link(mt_rng *rng, cluster_about about)
{
    mt_cluster_link l = { mg_15_real(rng, 0, 0.5), mg_15_real(rng, 60, 200), INFINITY };
    if (about == CLUSTER_TIES)
        return (mt_cluster_link){ (double)mg_pick(rng, 0, 2), 1, INFINITY };
    if (about != CLUSTER_MESSAGES)
        l.all = l.each * mg_15_real(rng, 0.7, 3);
    return l;
}

static void pick_lists(mg_15_world *w, mt_rng *rng, cluster_about about)
{
    if (about == CLUSTER_SLOW || about == CLUSTER_WIDE || about == CLUSTER_FAILS)
        for (int64_t d = 0; d < w->is.devices; d++)
            for (double at = w->begin + mg_15_real(rng, -4, 30); w->is.slows < MG_EVENTS_LIST && mg_pick(rng, 0, 2);) {
                double end = at + mg_15_real(rng, 0.5, 12);
                if (at >= 0)
                    w->slow[w->is.slows++] = (mt_cluster_slow){ d, at, end, mg_15_real(rng, 1, 5) };
                at = mg_pick(rng, 0, 1) ? end : end + mg_15_real(rng, 0, 9);
            }
    for (int64_t i = 0; i < w->is.slows; i++)
        if ((i + 1 == w->is.slows || w->slow[i + 1].device > w->slow[i].device) && mg_pick(rng, 0, 3) == 0)
            w->slow[i].end = INFINITY;
    double at = w->begin + (about == CLUSTER_FAILS ? mg_15_real(rng, -9, 20) : 1e9);
    for (int i = 0; about == CLUSTER_FAILS && i < 4; i++, at += mg_15_real(rng, 0, 20))
        if (at >= 0)
            w->failure[w->is.failures++] = (mt_cluster_failure){ at, mg_pick(rng, 0, w->is.devices - 1) };
}

static void pick_world(mg_15_world *w, mt_rng *rng, cluster_about about)
{
    memset(w, 0, sizeof *w);
    w->is = (mt_cluster){ .devices = mg_pick(rng, 6, DEVICES), .machine = mg_pick(rng, 1, 5) };
    w->is.inside = pick_link(rng, about);
    w->is.network = pick_link(rng, about);
    w->is.slow = w->slow;
    w->is.failure = w->failure;
    w->begin = mg_pick(rng, 0, 2) ? 0 : about == CLUSTER_TIES ? 7 : mg_15_real(rng, 0, 50);
    w->tasks.task = w->task;
    w->tasks.after = w->after;
    for (int64_t n = mg_pick(rng, 1, MG_EVENTS_TASKS); n > 0; n--)
        mg_15_add_task(w, rng, about);
    shuffle(w, rng);
    pick_lists(w, rng, about);
}

/* The same in a unit of so many seconds, a power of 2: nothing is rounded, and all that happens keeps its order. */
static void change_unit(mg_15_world *w, double unit)
{
    mt_cluster_link *const links[] = { &w->is.inside, &w->is.network };
    for (int i = 0; i < MT_COUNT(links); i++)
        *links[i] = (mt_cluster_link){ links[i]->latency * unit, links[i]->each / unit, links[i]->all / unit };
    for (int64_t i = 0; i < w->tasks.count; i++)
        w->task[i].seconds *= unit;
    for (int64_t i = 0; i < w->is.slows; i++)
        w->slow[i].begin *= unit, w->slow[i].end *= unit;
    for (int64_t i = 0; i < w->is.failures; i++)
        w->failure[i].time *= unit;
    w->begin *= unit;
}

static bool is_close(double got, double want, double unit)
{
    return got == want || fabs(got - want) <= 1e-9 * fmax(unit, fabs(want));
}

static bool is_right(mg_run *run, const mg_15_world *w, const reply *r, double unit)
{
    mg_events want;
    mg_events_run(&want, &w->is, &w->tasks, w->begin);
    if (r->status != MT_OK)
        return mg_fail(run, "a cluster is refused: \"%.120s\"", r->words);
    for (int64_t i = 0; i < w->tasks.count; i++)
        if (!is_close(r->ends[i], want.ends[i], unit)) {
            const mt_cluster_task *t = &w->task[i];
            return mg_fail(run,
                           "task %" PRId64 " (%s, device %" PRId64 " to %" PRId64 ", width %" PRId64 ") of %" PRId64
                           " ends at %.9g s, expected %.9g",
                           i,
                           t->device < 0 ? "a moment"
                           : t->to < 0   ? "a computation"
                                         : "a transfer",
                           t->device, t->to, t->width, w->tasks.count, r->ends[i], want.ends[i]);
        }
    if (!is_close(r->end, want.end, unit) || r->failed != want.failed)
        return mg_fail(run, "the run ends at %.9g s, failed device %" PRId64 ", expected %.9g and %" PRId64, r->end,
                       r->failed, want.end, want.failed);
    return true;
}

/* A right cluster is run before any is refused: task 0 is after task 1, which is after task 2. */
static bool refuses(mg_run *run, const mg_15_wrong *wrong, const char *says)
{
    static mg_15_world w;
    reply r;
    do
        pick_world(&w, mg_rng(run), CLUSTER_FAILS);
    while (w.is.devices < DEVICES || w.tasks.count < 3 || !w.is.slows || !w.is.failures || w.task[0].device < 0 ||
           w.tasks.afters < 3);
    w.after[0] = 1, w.after[1] = 2;
    for (int64_t i = 0; i < 3; i++)
        w.task[i].first = i, w.task[i].after = i < 2;
    mg_15_spoil(run, &w, wrong);
    if (!ask_run(run, &r, &w))
        return false;
    if (!wrong)
        return is_right(run, &w, &r, 1);
    bool right = r.status == MT_ERR_ARGUMENT && strstr(r.words, says) && r.end == 0;
    if (!right)
        mg_fail(run, "status %" PRId64 ", \"%.120s\"", r.status, r.words);
    return right;
}

static void refusals(mg_run *run)
{
#define WRONG(says, ...) { MG_15_WRONG(mg_15_world, __VA_ARGS__), says }
    static const struct {
        mg_15_wrong is;
        const char *says;
    } wrong[] = {
        WRONG("links between", "a network without speed", is.network.each, .real = 0),
        WRONG("links inside", "a link with a speed below 0", is.inside.all, .real = -1),
        WRONG("latency", "a latency that is no number", is.inside.latency, .real = NAN),
        WRONG("slow", "a device that becomes faster", slow[0].factor, .real = 0.5),
        WRONG("failure", "a failure of a device that is not there", failure[0].device, DEVICES),
        WRONG("device", "a task on a device that is not there", task[0].device, DEVICES),
        WRONG("device", "a transfer to a device that is not there", task[0].to, DEVICES),
        WRONG("0 or more", "a task below 0 s", task[0].seconds, .real = -1),
        WRONG("wait for", "tasks that wait for each other", after[1], 0),
        WRONG("", "a begin below 0 s", begin, .real = -1),
    };
    bool good = refuses(run, NULL, NULL);
    for (int i = 0; i < MT_COUNT(wrong) && good; i++)
        good = refuses(run, &wrong[i].is, wrong[i].says);
}

/* More events at once than 16 bits count: all tasks are ready at the beginning. They are computed in turn, some on each
 * device. */
static void many_at_once(mg_run *run)
{
    enum { MANY = 70001 };
    static mt_cluster_task task[MANY];
    static mg_15_world w;
    reply r;
    pick_world(&w, mg_rng(run), CLUSTER_TASKS);
    w.tasks = (mt_cluster_tasks){ .count = MANY, .task = task };
    for (int64_t i = 0; i < MANY; i++)
        task[i] = (mt_cluster_task){ .device = i % w.is.devices, .to = -1, .width = 1, .seconds = 2 };
    mg_part(run, "70,001 tasks at once", "places in the heap are int64_t");
    if (!ask_run(run, &r, &w))
        return;
    for (int64_t i = 0; i < MANY; i++) {
        double want = w.begin + 2 * (double)(i / w.is.devices + 1);
        if (is_close(r.ends[i], want, 1))
            continue;
        mg_fail(run, "%d tasks are ready at once: task %" PRId64 " ends at %.9g s, expected %.9g", MANY, i, r.ends[i],
                want);
        return;
    }
}

void mg_15_cluster(mg_run *run, const void *one_case)
{
    enum { ANY, WHOLE, EMPTY };
    static const mg_idea tries[] = {
        { .times = 199 },
        { "a failure as tasks end", "what ends at the second of a failure has ended", WHOLE, 1 << CLUSTER_FAILS, 200 },
        { "no tasks", "a run without tasks ends when it begins", EMPTY },
    };
    cluster_about about = ((const cluster_case *)one_case)->about;
    if (about == CLUSTER_REFUSED) {
        refusals(run);
        return;
    }
    bool good = true;
    for (mg_ideas t = { 0 }; good && MG_NEXT(run, &t, tries, about);) {
        static mg_15_world w;
        static const double units[] = { 1, 0x1p-30, 0x1p20 };
        double unit = units[mg_pick(mg_rng(run), 0, 2)];
        reply r;
        pick_world(&w, mg_rng(run), t.is == WHOLE ? CLUSTER_TIES : about);
        if (t.is == WHOLE)
            w.failure[w.is.failures++] =
                (mt_cluster_failure){ w.begin + (double)mg_pick(mg_rng(run), 0, 9), mg_pick(mg_rng(run), 0, 5) };
        if (t.is == EMPTY)
            w.tasks.count = w.tasks.afters = 0;
        change_unit(&w, unit);
        good = ask_run(run, &r, &w) && is_right(run, &w, &r, unit);
    }
    if (good && about == CLUSTER_TASKS)
        many_at_once(run);
}
