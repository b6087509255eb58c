/* hopeless.c -- calls that are not made: functions that failed twice in the same way would do so again, and all calls
 * of a lab have a budget of processor time, and a total time. Otherwise a unit that never ends costs its limit once in
 * each row, and one whose functions never end twice for each of them. */
#include "rows/run.h"

#include <math.h>
#include <string.h>

enum { ENOUGH = 2 };

static struct mg_failure *failure_of(mg_bench *b, const char *function)
{
    for (int i = 0; i < b->failures; i++)
        if (strcmp(b->failure[i].function, function) == 0)
            return &b->failure[i];
    if (b->failures == MT_COUNT(b->failure))
        return NULL;
    struct mg_failure *f = &b->failure[b->failures++];
    *f = (struct mg_failure){ 0 };
    snprintf(f->function, sizeof f->function, "%s", function);
    return f;
}

bool mg_hopeless(mg_run *run)
{
    struct mg_failure *f = failure_of(run->bench, run->function);
    double budget = run->bench->info.limits.calls_s;
    if (budget > 0 && run->bench->used > budget)
        mg_judge(run, MG_TIMEOUT, "skipped: the calls before this one used up the %g s of processor time of a lab",
                 budget);
    else if (run->bench->deadline > 0 && mt_now() > run->bench->deadline)
        mg_judge(run, MG_TIMEOUT, "skipped: the %d minutes of a lab are used up", MG_LAB_MINUTES);
    else if (f && f->timeouts >= ENOUGH)
        mg_judge(run, MG_TIMEOUT, "skipped: %s used up its time twice", run->function);
    else if (f && f->crashes >= ENOUGH)
        mg_judge(run, MG_CRASH, "skipped: %s crashed twice in the same way: %s", run->function, f->crash);
    return run->judged;
}

/* A call that does not come back holds the grader, whether it computes or sleeps. */
void mg_note_time(mg_run *run, double seconds)
{
    const mg_outcome *o = &run->outcome;
    if (o->verdict != MG_ERROR)
        run->bench->used += o->verdict == MG_PASS ? o->cpu : fmax(o->cpu, seconds);
}

/* Two crashes are equal when their line is ("labs/.../linear.c:10"), or the words where no line is known. */
void mg_note_failure(mg_run *run)
{
    struct mg_failure *f = failure_of(run->bench, run->function);
    if (f && run->row->verdict == MG_TIMEOUT)
        f->timeouts++;
    if (!f || run->row->verdict != MG_CRASH)
        return;
    char crash[sizeof f->crash];
    const char *detail = run->row->detail, *line = strstr(detail, ": ");
    size_t length = line && strncmp(detail, "labs/", 5) == 0 ? (size_t)(line - detail) : strcspn(detail, "\n");
    snprintf(crash, sizeof crash, "%.*s", (int)length, detail);
    f->crashes = strcmp(crash, f->crash) == 0 ? f->crashes + 1 : 1;
    memcpy(f->crash, crash, sizeof crash);
}
