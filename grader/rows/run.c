/* run.c -- making the described call, and the verdict of a case. The comparison of values is compare.c. */
#include "rows/run.h"
#include "rows/device.h"
#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SHIFTS = 61,
    TRIES = 3,
    CALL_SECONDS = 3, /* of a call on a student's machine, who waits for the row; lab.json names slower ones */
    EMULATED_SECONDS = 12,
    EQUAL_CALLS = 8, /* in how many more of them a unit must keep memory */
    MORE_THREADS = 3,
};

/* ---- a case --------------------------------------------------------------------------------- */

/* Every row has its own stream of random numbers, independent of the rows before it. */
static uint64_t stream_of(const mg_row *row)
{
    uint64_t hash = mg_hash(MG_HASH, row->step, strlen(row->step));
    return mg_hash(hash, row->name, strlen(row->name));
}

void mg_run_begin(mg_run *run, mg_bench *bench, mg_row *row, mg_session *session)
{
    *run = (mg_run){ .bench = bench, .row = row, .session = session, .credit = 1 };
    run->rng = mt_rng_new(bench->seed, stream_of(row));
    memcpy(run->own_hint, row->hint, sizeof run->own_hint);
    row->seed = bench->seed;
    row->measured = row->low = row->full = row->toy = row->reference = NAN;
    row->flops = row->bytes = 0;
    row->counted = (mg_counted){ 0 };
    row->follows[0] = row->printed[0] = row->part[0] = 0;
    row->same = row->acquitted = row->ran = row->unwritten = false;
    if (session)
        mg_session_renew(session);
}

void mg_keep_printed(mg_run *run)
{
    mg_row *row = run->row;
    if (run->session && (row->verdict == MG_FAIL || row->verdict == MG_TIMEOUT))
        mg_session_printed(run->session, row->printed, sizeof row->printed);
}

bool mg_expect_named(mg_run *run, const char *what, int64_t number)
{
    char text[sizeof run->row->printed], wanted[24];
    mg_session_printed(run->session, text, sizeof text);
    int length = snprintf(wanted, sizeof wanted, "%" PRId64, number);
    for (const char *at = text; (at = strstr(at, wanted)); at++)
        if ((at == text || !(isdigit((unsigned char)at[-1]) || at[-1] == '-')) && !isdigit((unsigned char)at[length]))
            return true;
    mg_hint(run, "the header says what the message names: give MT_CHECK a text with these numbers");
    return mg_fail(run, "aborted, but its message does not name the %s, %s", what, wanted);
}

/* Memory that the last call, whose values are right, has kept. */
static void judge_kept(mg_run *run)
{
    if (run->kept == 0 || run->judged)
        return;
    mg_hint(run, "what a call allocates it must free, on every path; what it keeps for its next call must not grow");
    mg_fail(run, "%lld bytes more stay allocated after each of %d equal calls", (long long)run->kept, EQUAL_CALLS);
}

/* The row's own hint is not about a call that does not come back; one that the check gave with that call is. */
static void say_how_to_repeat(mg_run *run, bool hangs)
{
    char again[160], own[sizeof run->row->hint - sizeof again] = "";
    if (run->hinted)
        snprintf(own, sizeof own, "%.*s; ", (int)sizeof own - 3, run->row->hint);
    snprintf(again, sizeof again, "make debug LAB=%.2s STEP=%s SEED=%llx %smakes these calls again%s", run->row->step,
             run->row->step, (unsigned long long)run->row->seed, hangs ? "GDB=1 " : "",
             hangs ? "; Ctrl-C and backtrace show where they are" : "");
    snprintf(run->row->hint, sizeof run->row->hint, "%s%s", own, again);
}

void mg_run_end(mg_run *run)
{
    judge_kept(run);
    mg_keep_printed(run);
    if (mg_on_the_device(run))
        mg_device_lead(run);
    if (!run->judged && run->calls == 0)
        mg_judge(run, MG_ERROR, "the check called nothing");
    if (!run->judged)
        mg_judge(run, MG_PASS, "%s", "");
    if (mg_verdict_open(run->row->verdict) && run->row->verdict != MG_REVIEW)
        run->row->hint[0] = 0; /* not an error of the student */
    bool hangs = run->row->verdict == MG_TIMEOUT;
    if (run->row->verdict == MG_CRASH || hangs)
        say_how_to_repeat(run, hangs);
    run->row->max = run->row->verdict == MG_SKIPPED ? 0 : run->row->max;
    run->row->points = run->row->verdict == MG_PASS ? run->credit * run->row->max : 0;
    mg_capture_row(&run->bench->capture, run->row);
    mg_forget_call(run);
}

void mg_judge(mg_run *run, mg_verdict verdict, const char *fmt, ...)
{
    va_list args;
    if (run->judged)
        return;
    run->judged = true;
    run->row->verdict = verdict;
    snprintf(run->row->function, sizeof run->row->function, "%s", run->function);
    snprintf(run->row->part, sizeof run->row->part, "%s", verdict == MG_PASS || verdict == MG_TODO ? "" : run->part);
    va_start(args, fmt);
    int n = vsnprintf(run->row->detail, sizeof run->row->detail, fmt, args);
    va_end(args);
    if (run->in_words[0] && n < (int)sizeof run->row->detail && !mg_verdict_open(verdict) && verdict != MG_TODO &&
        verdict != MG_PASS)
        snprintf(run->row->detail + n, sizeof run->row->detail - (size_t)n, "\n%s", run->in_words);
}

static bool is_step(const char *text)
{
    return strspn(text, "0123456789.") == strlen(text) && strlen(text) < 8;
}

/* What MT_TODO printed names the step and the line, "TODO 05.7: step not written yet (labs/05-data/idx.c:41)", or the
 * unit of a stub. */
static void judge_unwritten(mg_run *run)
{
    const mg_build *build = &run->bench->build;
    mg_row *row = run->row;
    char missing[64] = "", where[112] = "";
    const char *said = strstr(run->outcome.detail, "\nTODO ");
    if (said)
        sscanf(said, "\nTODO %63[^:]:%*[^(](%111[^)])", missing, where);
    bool broken = mg_is_broken(build, missing);
    if (mg_is_unasked(build, missing))
        strcpy(run->bench->asked, missing);
    mg_judge(run, broken ? MG_FAIL : MG_TODO, "%s", "");
    row->unwritten = true;
    if (broken) {
        row->call[0] = row->hint[0] = row->detail[0] = row->part[0] = 0;
        snprintf(row->note, sizeof row->note, "%s does not build", missing);
    } else if (where[0] && mg_build_code_above(build, where)) {
        snprintf(row->note, sizeof row->note, "is it written? then delete the line MT_TODO at %s", where);
    } else if (missing[0] && is_step(missing) && strcmp(missing, row->step) != 0) {
        snprintf(row->note, sizeof row->note, "waits for step %s", missing);
    }
}

void mg_run_unwritten(mg_run *run, const mg_row *first)
{
    mg_judge(run, first->verdict, "%s", "");
    run->row->unwritten = true;
    run->row->call[0] = run->row->hint[0] = 0;
    memcpy(run->row->note, first->note, sizeof first->note);
}

/* ---- making the call ------------------------------------------------------------------------------ */

static void invoke(mg_run *run)
{
    mg_bench *b = run->bench;
    mg_invocation in = { .function = run->function, .argument = run->argument, .count = run->arguments };
    if (run->where != MG_AT_END)
        b->shift = (b->shift * 5 + 7) % SHIFTS;
    in.threads = run->threads;
    if (!b->marking)
        in.most_s =
            mg_labinfo_seconds(&b->info, run->function, mg_on_the_device(run) ? EMULATED_SECONDS : CALL_SECONDS);
    in.shift = b->shift;
    in.off = run->off;
    /* guards catch an overrun at the end on one call, at the start on the next */
    in.at_end = run->where == MG_ANYWHERE ? run->calls % 2 == 0 : run->where == MG_AT_END;
    mg_capture_call(&b->capture, &in);
    double begin = mt_now();
    mg_session_call(run->session, &in, &run->outcome);
    mg_note_time(run, mt_now() - begin);
}

/* An error of ours (no process, no memory, a full disk) may pass. So may processor time in a stopped worker, which a
 * host that pauses this machine adds; a unit that wakes its worker does so in each new one. */
static void invoke_again(mg_run *run)
{
    /* The counting worker, or the rival of a race, is not replaced by the one of the other calls. */
    const mg_worker worker = run->session ? mg_session_worker(run->session) : run->bench->worker;
    if (run->session && mg_session_aborted(run->session)) {
        mg_session_end(run->session);
        run->session = NULL;
    }
    for (int i = 1; i <= TRIES; i++) {
        run->outcome = (mg_outcome){ .verdict = MG_ERROR };
        if (!run->session)
            run->session = mg_session_start(&worker);
        if (run->session)
            invoke(run);
        else
            snprintf(run->outcome.detail, sizeof run->outcome.detail, "%s", mt_last_error());
        if ((run->outcome.verdict != MG_ERROR && !run->outcome.awake) || mg_stop || i == TRIES)
            return;
        mg_session_end(run->session);
        run->session = NULL;
        nanosleep(&(struct timespec){ .tv_nsec = i * 300000000L }, NULL);
    }
}

/* The verdict of a call that did not come back: for a crash with the line of the unit, where it is known. */
static void judge_outcome(mg_run *run)
{
    const mg_outcome *o = &run->outcome;
    const mg_build *b = &run->bench->build;
    char line[128] = "", code[128];
    bool known = o->verdict == MG_CRASH && o->pc[0] &&
                 mg_build_line(b, run->bench->worker_path, o->pc, MG_FRAMES, line, sizeof line) &&
                 mg_build_code(b, line, code, sizeof code);
    int first = (int)strcspn(o->detail, "\n"); /* line; what was printed comes behind it */
    mg_judge(run, o->verdict, "%s%s%.*s%s%s%s", line, line[0] ? ": " : "", first, o->detail, known ? "\n    | " : "",
             known ? code : "", o->detail + first);
    mg_keep_printed(run);
}

/* The call has allocated what it did not free. A unit may keep that for its next call, but then the same call, made
 * again and again, comes to an end of it, and may have more threads than the first. */
static void try_what_is_kept(mg_run *run)
{
    if (run->outcome.verdict == MG_PASS && mg_device_failed(run)) /* another call would have another report */
        return;
    bool keeps = run->outcome.verdict == MG_PASS && run->outcome.kept > 0;
    for (int i = 0; i < EQUAL_CALLS && run->outcome.verdict == MG_PASS && run->outcome.kept > 0; i++)
        invoke_again(run);
    run->kept = run->outcome.verdict == MG_PASS ? mt_max(run->outcome.kept, 0) : 0;
    if (keeps && run->outcome.verdict == MG_PASS && run->kept == 0) {
        run->threads += MORE_THREADS;
        invoke_again(run);
        run->threads -= MORE_THREADS;
    }
}

static bool call_worker(mg_run *run)
{
    judge_kept(run);
    if (run->judged)
        return false;
    mg_put_call(run, run->row->call, sizeof run->row->call);
    if (mg_hopeless(run))
        return false;
    invoke_again(run);
    try_what_is_kept(run);
    run->calls++;
    if (run->outcome.verdict == MG_PASS)
        return true;
    if (run->outcome.verdict == MG_TODO)
        judge_unwritten(run);
    else
        judge_outcome(run);
    mg_note_failure(run);
    mg_session_end(run->session);
    run->session = NULL;
    return false;
}

bool mg_call(mg_run *run)
{
    bool device = mg_on_the_device(run);
    if (device)
        mg_device_ask(run);
    return call_worker(run) && (!device || mg_device_judge(run));
}
