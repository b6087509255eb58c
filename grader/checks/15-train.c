/* 15-train.c -- how the checks of training on a simulated cluster run (step 15.18): against 15-events.c, which
 * simulates each step; runs of more steps than that can against a formula for one computation. Rows: 15-scale.c. */
#include "checks/15-seconds.h"
#include "checks/15-world.h"
#include "checks/fill.h"
#include "rows/traffic.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const names[] = {
    "seconds", "work", "waiting", "saving", "lost", "restarting", "failures", "share"
};

typedef struct reply {
    int64_t status, walked;
    mt_goodput run;
} reply;

static bool ask_train(mg_run *run, reply *got, const mg_15_world *w, const mt_cluster_job *job)
{
    mg_begin(run, "mt_cluster_train");
    mg_out(run, "status, walked", MT_I64, MT_SHAPE(2));
    mg_out(run, "run", MT_I64, MT_SHAPE(8));
    mg_inout(run, "words", MT_U8, MT_SHAPE(MG_15_WORDS));
    memcpy(mg_in(run, "job", MT_I64, MT_SHAPE(4)), job, sizeof *job);
    mg_15_put_world(run, w);
    if (!mg_call(run))
        return false;
    got->status = ((const int64_t *)mg_result(run, "status, walked"))[0];
    got->walked = ((const int64_t *)mg_result(run, "status, walked"))[1];
    memcpy(&got->run, mg_result(run, "run"), sizeof got->run);
    return true;
}

static bool is_right(mg_run *run, const reply *got, const mt_goodput *want, const mg_15_world *w,
                     const mt_cluster_job *job)
{
    if (got->status != MT_OK)
        return mg_fail(run, "a run is refused: status %" PRId64, got->status);
    for (int k = 0; k < 8; k++) {
        double is = ((const double *)&got->run)[k], right = ((const double *)want)[k];
        if (isnan(right) ? is >= 0 : fabs(is - right) <= 1e-8 * fmax(1, want->seconds))
            continue;
        return mg_fail(run,
                       "%s %.9g, expected %.9g%s: %" PRId64 " steps, a save of %.9g s each %" PRId64
                       " (0: at the end), restarts of %.9g s, %" PRId64 " slow times, %" PRId64 " failures",
                       names[k], is, isnan(right) ? 0 : right, isnan(right) ? " or more" : "", job->steps, job->save,
                       job->interval, job->restart, w->is.slows, w->is.failures);
    }
    return true;
}

/* ---- random runs ------------------------------------------------------------------------------------------------- */

static void empty(mg_15_world *w)
{
    memset(w, 0, sizeof *w);
    w->is = (mt_cluster){ .devices = 4, .machine = 2, .inside = { 0.1, 100, 150 }, .network = { 0.2, 50, 70 } };
    w->is.slow = w->slow;
    w->is.failure = w->failure;
    w->tasks.task = w->task;
    w->tasks.after = w->after;
}

/* What is special in a run. */
enum { ANY, WHOLE, EDGE, SHORTER, SHORTER_EACH, SAVE_ENDS, SAVE_BEGINS, NO_SAVE, NO_RESTART, NO_STEPS, BAD_RESTART };

/* A number of seconds; of whole ones. */
static double pick(mt_rng *rng, bool whole, double low, double high)
{
    double x = mg_15_real(rng, low, high);
    return whole ? ceil(x) : x;
}

/* A few tasks on some of the devices; slow times and failures of all, over the whole run. whole: everything takes whole
 * seconds, so that steps and saves end at the very second of a change or a failure. */
static mt_cluster_job pick_job(mg_15_world *w, mt_rng *rng, cluster_about about, bool whole)
{
    mt_cluster_job job = { mg_pick(rng, 1, 60), mg_pick(rng, 0, 12), pick(rng, whole, 0, 9), pick(rng, whole, 0, 30) };
    mg_events once;
    empty(w);
    if (whole)
        w->is.inside = w->is.network = (mt_cluster_link){ (double)mg_pick(rng, 0, 1), 1, INFINITY };
    if (!whole && mg_pick(rng, 0, 4) == 0) /* else what follows is not a whole number of seconds */
        job.restart = 0;
    for (int64_t n = mg_pick(rng, 1, 6); n > 0; n--)
        mg_15_add_task(w, rng, whole ? CLUSTER_TIES : CLUSTER_SHARED);
    w->task[0].to = -1;
    w->task[0].device = mg_pick(rng, 0, 3);
    w->task[0].seconds = pick(rng, whole, 2, 9);
    mg_events_run(&once, &w->is, &w->tasks, 0);
    double all = 1.5 * (double)job.steps * once.end;
    for (int64_t d = 0; d < 4 && (about == CLUSTER_SLOW || about == CLUSTER_FAILS); d++)
        for (double at = pick(rng, whole, whole ? -1 : 0, all); at < all && w->is.slows < MG_EVENTS_LIST;) {
            double end = at + pick(rng, whole, 0.01 * all, 0.2 * all);
            w->slow[w->is.slows++] = (mt_cluster_slow){ d, at, end, whole ? 2 : mg_15_real(rng, 1, 3) };
            at = end + pick(rng, whole, 0, 0.2 * all);
            if (at >= all && mg_pick(rng, 0, 3) == 0)
                w->slow[w->is.slows - 1].end = INFINITY;
        }
    for (double at = 0; about == CLUSTER_FAILS && w->is.failures < MG_EVENTS_LIST && at < all;) {
        at += pick(rng, whole, 0, 0.3 * all);
        w->failure[w->is.failures++] = (mt_cluster_failure){ at, mg_pick(rng, 0, 3) };
    }
    return job;
}

/* One computation, whose device becomes slow a rounding before or after the end of the first step after a save. */
static mt_cluster_job pick_edge(mg_15_world *w, mt_rng *rng)
{
    mt_cluster_job job = { mg_pick(rng, 9, 20), mg_pick(rng, 2, 6), mg_15_real(rng, 1e4, 1e5), 1 };
    double step = mg_15_real(rng, 3, 9), saved = (double)job.interval * step + job.save;
    empty(w);
    w->task[w->tasks.count++] = (mt_cluster_task){ .device = 0, .to = -1, .width = 1, .seconds = step };
    w->slow[w->is.slows++] = (mt_cluster_slow){ 0, saved + step, saved + 3 * step, 2 };
    return job;
}

/* One computation, in whole seconds: its device fails at the very end of a save, which is complete, or at its begin,
 * which is the end of a step; both are one second where saves take no time. Or runs go on at once, at times between
 * which there is no nanosecond. */
static mt_cluster_job pick_saved(mg_15_world *w, mt_rng *rng, int64_t is)
{
    double unit = is == NO_RESTART ? 1e8 : 1;
    mt_cluster_job job = { mg_pick(rng, 19, 30), mg_pick(rng, 2, 6),
                           unit * (double)mg_pick(rng, is != NO_SAVE, 9 * (is != NO_SAVE)),
                           is == NO_RESTART ? 0 : (double)mg_pick(rng, 0, 30) };
    double step = unit * (double)mg_pick(rng, 3, 9), saves = (double)mg_pick(rng, 1, 3);
    double at = saves * (double)job.interval * step + (saves - (is == SAVE_BEGINS)) * job.save;
    empty(w);
    w->task[w->tasks.count++] = (mt_cluster_task){ .device = 0, .to = -1, .width = 1, .seconds = step };
    w->failure[w->is.failures++] = (mt_cluster_failure){ at, 0 };
    return job;
}

/* Steps that become shorter while device 1 is slow: device 2 then gets what device 3 waits for before the long task. In
 * some runs there is a save after each. */
static mt_cluster_job pick_shorter(mg_15_world *w, mt_rng *rng, bool each)
{
    mt_cluster_job job = { mg_pick(rng, 9, 20), each ? 1 : mg_pick(rng, 0, 6), mg_15_real(rng, 1, 9), 1 };
    const mt_cluster_task tasks[] = { { 0, -1, 1, 10, 0, 0, 0, 0 },
                                      { 1, -1, 1, 9, 0, 0, 0, 0 },
                                      { 2, -1, 1, mg_15_real(rng, 1, 9), 0, 0, 0, 1 },
                                      { 2, -1, 1, mg_15_real(rng, 50, 99), 0, 0, 1, 1 },
                                      { 3, -1, 1, mg_15_real(rng, 50, 99), 0, 0, 2, 1 } };
    empty(w);
    memcpy(w->task, tasks, sizeof tasks);
    w->tasks.count = MT_COUNT(tasks);
    for (int64_t i = 0; i < 3; i++) /* task 2 is after 0, 3 after 1, 4 after 2 */
        w->after[w->tasks.afters++] = i;
    w->slow[w->is.slows++] = (mt_cluster_slow){ 1, 0, mg_15_real(rng, 200, 900), 2 };
    return job;
}

static mt_cluster_job pick_run(mg_15_world *w, mt_rng *rng, cluster_about about, int64_t is)
{
    if (is == EDGE)
        return pick_edge(w, rng);
    if (is == SHORTER || is == SHORTER_EACH)
        return pick_shorter(w, rng, is == SHORTER_EACH);
    if (is >= SAVE_ENDS && is <= NO_RESTART)
        return pick_saved(w, rng, is);
    mt_cluster_job job = pick_job(w, rng, about, is == WHOLE);
    job.steps = is == NO_STEPS ? 0 : job.steps;
    job.restart = is == BAD_RESTART ? -1 : job.restart;
    return job;
}

void mg_15_train(mg_run *run, const void *one_case)
{
    enum { IN_SLOW = 1 << CLUSTER_SLOW, IN_FAILS = 1 << CLUSTER_FAILS, IN_REFUSED = 1 << CLUSTER_REFUSED };
    static const char two[] = "what happens at one second has an order: steps and saves end, then devices change";
    static const mg_idea tries[] = {
        { .times = 40 },
        { "whole seconds", two, WHOLE, .times = 20 },
        { "a slow time that begins as a step ends", two, EDGE, IN_SLOW, 10 },
        { "steps that are shorter while a device is slow",
          "a step among slow devices may be the shorter one: simulate it", SHORTER, IN_SLOW, 5 },
        { "a save after each of them", "a step among slow devices may be the shorter one: simulate it", SHORTER_EACH,
          IN_SLOW, 5 },
        { "a failure as a save ends", "a save that ends at that second is complete", SAVE_ENDS, IN_FAILS, 3 },
        { "a failure as a save begins", "a save that begins at that second is not complete", SAVE_BEGINS, IN_FAILS, 3 },
        { "saves of 0 s", "a save that takes no time is complete at once", NO_SAVE, IN_FAILS, 3 },
        { "restarts of 0 s", "a run goes on at the second of the failure", NO_RESTART, IN_FAILS, 3 },
        { "no steps", NULL, NO_STEPS, IN_REFUSED },
        { "a restart below 0 s", NULL, BAD_RESTART, IN_REFUSED },
    };
    cluster_about about = ((const cluster_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        static mg_15_world w;
        mt_cluster_job job = pick_run(&w, mg_rng(run), about, t.is);
        reply got;
        mt_goodput want;
        int64_t walked;
        if (!ask_train(run, &got, &w, &job))
            return;
        mg_events_train(&want, &walked, &w.is, &w.tasks, &job);
        if (t.is < NO_STEPS)
            is_right(run, &got, &want, &w, &job);
        else if (got.status != MT_ERR_ARGUMENT || got.walked != MG_15_UNCHANGED)
            mg_fail(run, "status %" PRId64 ", *out is %s", got.status,
                    got.walked == MG_15_UNCHANGED ? "unchanged" : "written");
    }
}

/* ---- many steps -------------------------------------------------------------------------------------------------- */

static bool is_spared(mg_run *run, const reply *got, int64_t walked, const mt_cluster_job *job, const mg_15_world *w)
{
    if (got->walked <= walked)
        return true;
    return mg_fail(run,
                   "%" PRId64 " steps are simulated, expected at most %" PRId64 ": %" PRId64 " steps, %" PRId64
                   " slow times, %" PRId64 " failures",
                   got->walked, walked, job->steps, w->is.slows, w->is.failures);
}

/* More than 2^31 steps of one computation, which is slow at the end of the run, or only just after it. */
static bool is_long_right(mg_run *run, bool after)
{
    static mg_15_world w;
    mt_rng *rng = mg_rng(run);
    mt_cluster_job job = { (int64_t)1 << 31, 0, mg_15_real(rng, 0, 9), 1 };
    job.steps += mg_pick(rng, 129, 250);
    double step = mg_15_real(rng, 3, 9), work = (double)job.steps * step, factor = mg_15_real(rng, 2, 5);
    double begin = work + (after ? 3.5 : (double)-mg_pick(rng, 100, 50000) - 0.5) * step;
    reply got;
    empty(&w);
    w.task[w.tasks.count++] = (mt_cluster_task){ .device = 0, .to = -1, .width = 1, .seconds = step };
    w.slow[w.is.slows++] = (mt_cluster_slow){ 0, begin, begin + 1e6, factor };
    mt_goodput want = { .work = work, .saving = job.save };
    want.waiting = after ? 0 : (factor - 1) * fmin(work - begin, 1e6 / factor);
    want.seconds = want.work + want.waiting + want.saving;
    want.share = work / want.seconds;
    return ask_train(run, &got, &w, &job) && is_right(run, &got, &want, &w, &job) &&
           is_spared(run, &got, after ? 1 : 4, &job, &w);
}

/* Steps of no time, of which one is simulated. */
static bool is_idle_right(mg_run *run)
{
    static mg_15_world w;
    mt_cluster_job job = { 5000, 100, 1, 1 };
    const mt_goodput want = { .seconds = 50, .saving = 50 };
    reply got;
    empty(&w);
    w.task[w.tasks.count++] = (mt_cluster_task){ .device = 0, .to = -1, .width = 1, .seconds = 0 };
    mg_part(run, "steps of 0 s", "steps of 0 s are not simulated again either");
    return ask_train(run, &got, &w, &job) && is_right(run, &got, &want, &w, &job) && is_spared(run, &got, 1, &job, &w);
}

/* Only steps that may take another time are simulated, in short runs and in long ones. */
static bool walks(mg_run *run)
{
    static const mg_idea tries[] = { { "slow times", .is = CLUSTER_SLOW, .times = 40 },
                                     { "failures", .is = CLUSTER_FAILS, .times = 40 } };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        static mg_15_world w;
        mt_cluster_job job = pick_job(&w, mg_rng(run), (cluster_about)t.is, mg_pick(mg_rng(run), 0, 1));
        reply got;
        mt_goodput want;
        int64_t walked;
        if (!ask_train(run, &got, &w, &job))
            return false;
        mg_events_train(&want, &walked, &w.is, &w.tasks, &job);
        if (!is_right(run, &got, &want, &w, &job))
            return false;
        if (!is_spared(run, &got, walked, &job, &w))
            return false;
    }
    static const mg_idea long_runs[] = { { "a slow time at the end of a long run", .is = false, .times = 10 },
                                         { "a slow time after a long run", .is = true, .times = 10 } };
    bool good = true;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, long_runs, 0);)
        good = is_long_right(run, t.is);
    return good && is_idle_right(run);
}

/* Memory accesses for each task: of a run of 8,000, the reference has 295, and a list in place of the heap 4,000 at
 * least; of 10,000 steps with 2,000 tasks, simulated seven times, it has 1,836. */
void mg_15_costs(mg_run *run, const void *one_case)
{
    bool steps = ((const cluster_case *)one_case)->about == CLUSTER_STEPS;
    const int64_t tasks = steps ? 2000 : 8000, most = steps ? 10000 : 2000, least = steps ? 900 : 145;
    if (steps && !walks(run))
        return;
    mg_part(run, NULL, NULL);
    mg_begin(run, "memory accesses of a run");
    mg_i64(run, "tasks", tasks);
    mg_i64(run, "steps", steps ? 10000 : 0);
    if (!mg_traffic_call(run, MG_L1))
        return;
    double each = (double)mg_traffic_accesses(run) / (double)tasks;
    if (each > (double)most)
        mg_fail(run, "%.0f memory accesses for each of %lld tasks: at most %lld", each, (long long)tasks,
                (long long)most);
    else if (each < (double)least)
        mg_review(run, "%.0f memory accesses for each task, less than half of the reference's", each);
    mg_note(run, "%.0f memory accesses for each task (at most %lld)  counted", each, (long long)most);
}
