/* hopeless.c -- calls that are not made: a function that used up its time twice would do so again, and all calls of a
 * lab have a budget of processor time, and a total time. Otherwise a unit that never ends costs its limit once in each
 * row, and one whose functions never end twice for each of them. A crash is soon over: after any number of them the
 * next row makes its calls, so that its points depend on its own inputs only. */
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
    return run->judged;
}

/* A call that does not come back holds the grader, whether it computes or sleeps. */
void mg_note_time(mg_run *run, double seconds)
{
    const mg_outcome *o = &run->outcome;
    if (o->verdict != MG_ERROR)
        run->bench->used += o->verdict == MG_PASS ? o->cpu : fmax(o->cpu, seconds);
}

void mg_note_failure(mg_run *run)
{
    struct mg_failure *f = failure_of(run->bench, run->function);
    if (f && run->row->verdict == MG_TIMEOUT)
        f->timeouts++;
}
