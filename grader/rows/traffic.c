/* traffic.c -- see traffic.h. */
#include "rows/traffic.h"
#include "rows/run.h"
#include "sandbox/wire_traffic.h"

#include <string.h>

static const char report_name[] = ""; /* no name: not shown among the arguments */

/* A unit may build, and not so with other options: it can ask for them (#ifdef __SANITIZE_THREAD__). */
static bool build(mg_run *run)
{
    mg_bench *b = run->bench;
    char log[1024] = "";
    mt_status status = MT_OK;
    if (!b->counting_path[0] && !b->uncounted[0]) {
        status = mg_build_worker(&b->build, b->info.id, MG_MINE | MG_COUNTED, b->counting_path, log, sizeof log);
        if (status == MT_ERR_FORMAT)
            snprintf(b->uncounted, sizeof b->uncounted, "%.*s", (int)sizeof b->uncounted - 1,
                     log[0] ? log : mt_last_error());
        if (status != MT_OK)
            b->counting_path[0] = 0;
    }
    if (b->uncounted[0])
        mg_judge(run, MG_FAIL, "does not build with -O1 -fsanitize=thread, with which memory accesses are seen:\n%s",
                 b->uncounted);
    else if (status != MT_OK)
        mg_judge(run, MG_ERROR, "no counting worker: %.200s %.600s", mt_last_error(), log);
    return b->counting_path[0];
}

/* Use the counting worker in place of the submission's own. False: the run has its verdict. */
static bool start(mg_run *run, mg_worker *worker)
{
    mg_bench *b = run->bench;
    if (!build(run))
        return false;
    *worker = b->worker;
    worker->path = b->counting_path;
    mg_session_end(run->session);
    run->session = mg_session_start(worker);
    if (!run->session)
        mg_judge(run, MG_ERROR, "%s", mt_last_error());
    return run->session;
}

bool mg_traffic_call(mg_run *run, mg_cache cache)
{
    mg_worker worker;
    const mg_traffic_report ask = { .cache = cache };
    memcpy(mg_inout(run, report_name, MT_U8, MT_SHAPE(sizeof ask)), &ask, sizeof ask);
    run->threads = 1;
    return start(run, &worker) && mg_call(run);
}

int64_t mg_traffic_accesses(mg_run *run)
{
    const mg_traffic_report *r = mg_result(run, report_name);
    return r->accesses;
}

/* Whether no race was found; else the verdict. place: one of its accesses; who: what raced. */
static bool no_race(mg_run *run, const mg_worker *worker, int64_t place, const char *who, const char *hint)
{
    char line[256] = "";
    if (place == 0)
        return true;
    bool known = mg_build_line(&run->bench->build, worker->path, (uint64_t[]){ (uint64_t)place }, 1, line, sizeof line);
    mg_hint(run, "%s", hint);
    mg_fail(run, "a data race%s%s: two %s access the same memory, and one of them writes it", known ? " in " : "", line,
            who);
    return false;
}

static const char at_once[] = "two threads may call this function at once, on different arrays: keep nothing in static "
                              "or global variables, unless they are locked or thread-local";

/* Likewise of what a call has written by functions that are not searched: where is not known. */
static bool keeps_statics(mg_run *run, const mg_traffic_report *r)
{
    if (!r->changed_statics)
        return true;
    mg_hint(run, "%s", at_once);
    mg_fail(run,
            "a data race: two calls at once write the same static variable, which a function that they call fills");
    return false;
}

static bool search(mg_run *run, int64_t calls, int threads, const char *who, const char *hint)
{
    mg_worker worker;
    const mg_traffic_report ask = { .cache = calls };
    memcpy(mg_inout(run, report_name, MT_U8, MT_SHAPE(sizeof ask)), &ask, sizeof ask);
    run->threads = threads;
    if (!start(run, &worker) || !mg_call(run))
        return false;
    const mg_traffic_report *r = mg_result(run, report_name);
    mg_session_end(run->session);
    run->session = NULL;
    return no_race(run, &worker, r->raced_at_once, "calls at once", at_once) && keeps_statics(run, r) &&
           no_race(run, &worker, r->raced, who, hint);
}

bool mg_shared_call(mg_run *run)
{
    return search(run, MG_ALSO_AT_ONCE, 4, "threads",
                  "each thread needs its own variables and buffers (declared inside the parallel loop, not static or "
                  "global), and its own part of the output");
}

bool mg_ranks_call(mg_run *run, bool searched)
{
    return !searched ? mg_call(run)
                     : search(run, MG_ONE_CALL, 1, "ranks",
                              "ranks are threads of one program: what is static or global is the same memory for all "
                              "of them");
}

/* Whether what the call accessed is counted; else the run has its verdict. */
static bool is_seen(mg_run *run, const mg_traffic_report *r)
{
    char line[256] = "";
    const mg_build *b = &run->bench->build;
    if (r->unseen)
        mg_build_line(b, run->bench->counting_path, (uint64_t[]){ (uint64_t)r->unseen }, 1, line, sizeof line);
    else if (!mg_seen_structures(b, run->bench->info.id, line, sizeof line))
        return true;
    mg_hint(run, "where __SANITIZE_THREAD__ is defined use plain loops over numbers");
    mg_fail(run, "%s%s%s, and the memory that this accesses is not counted", line, line[0] ? " " : "",
            r->unseen
                ? "calls a function of the C library that looks at memory, prints or converts text, or a given kernel"
                : "passes a structure in memory by value");
    return false;
}

void mg_traffic_credit(mg_run *run, const char *bar, double must)
{
    const mg_traffic_report *r = mg_result(run, report_name);
    if (!is_seen(run, r))
        return;
    double times = (double)(r->fetched + r->written) / must;
    if (!(times >= 0.99)) {
        mg_hint(run,
                "some accesses were not seen; where __SANITIZE_THREAD__ is defined use plain loops over memory of the "
                "arguments or of malloc, as mt_load_some, mt_store_some and mt_stream of kernels/vec.h do");
        mg_review(run, "counted %.3g times the minimum of bytes, and less than 1 is not possible", times);
    }
    mg_note(run, "%.2f times the minimum of bytes (bar %.2f .. %.2f)  counted", times, mg_bar(run, bar, "low"),
            mg_bar(run, bar, "full"));
    mg_credit(run, bar, times);
    run->row->bytes = (double)(r->fetched + r->written);
    mg_session_end(run->session);
    run->session = NULL;
}
