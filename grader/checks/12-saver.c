/* 12-saver.c -- how the checks of step 12.7 run: a list of saves and waits, and what a slow writer is given meanwhile.
 * Rows: 12-checkpoints.c. */
#include "checks/12-checkpoints.h"
#include "checks/fill.h"
#include "worker/saver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS = 8 };

typedef struct script {
    int64_t event[EVENTS][MG_SAVER_COLUMNS], n;
    int64_t refused; /* so many of the first events have no thread to be had */
    bool async;
    bool prepared; /* copies exist before the first save */
    bool eager;    /* each thread has written before pthread_create returns */
    bool two;      /* savers */
} script;

static void add(script *s, int64_t action, int64_t hold, mt_status status)
{
    int64_t step = s->n ? s->event[s->n - 1][1] + 3 : 0;
    memcpy(s->event[s->n++], (const int64_t[]){ action, step, hold, status }, sizeof s->event[0]);
}

static script script_of(mt_rng *rng, saver_about about, bool eager)
{
    script s = { .async = about != SAVER_HERE, .refused = about == SAVER_REFUSED ? 2 : 0 };
    s.prepared = about == SAVER_NEXT || about == SAVER_HERE;
    add(&s, MG_SAVER_SAVE, about == SAVER_NEXT ? 2 : 1,
        about == SAVER_ERROR || about == SAVER_ENDS ? MT_ERR_IO : MT_OK);
    s.event[0][1] = mg_pick(rng, 1, 500);
    switch (about) {
    case SAVER_ERROR:
        add(&s, MG_SAVER_WAIT, 0, 0);
        add(&s, MG_SAVER_WAIT, 0, 0);
        add(&s, MG_SAVER_SAVE, 1, MT_OK);
        s.event[3][1] = s.event[0][1]; /* the step that failed, once more */
        break;
    case SAVER_ENDS:
        add(&s, MG_SAVER_SAVE, 1, MT_OK);
        add(&s, MG_SAVER_SAVE, 1, MT_ERR_IO); /* close reports it */
        break;
    case SAVER_NEXT:
        add(&s, MG_SAVER_SAVE, 2, MT_OK);
        add(&s, MG_SAVER_SAVE, 1, MT_OK);
        break;
    case SAVER_HERE:
    case SAVER_REFUSED:
        add(&s, MG_SAVER_SAVE, 1, MT_ERR_IO);
        add(&s, MG_SAVER_SAVE, 1, MT_OK);
        break;
    default:
        add(&s, MG_SAVER_WAIT, 0, 0);
        add(&s, MG_SAVER_SAVE, 1, MT_OK);
        add(&s, MG_SAVER_WAIT, 0, 0);
        add(&s, MG_SAVER_SAVE, 1, MT_OK);
    }
    if (about != SAVER_ENDS)
        add(&s, MG_SAVER_WAIT, 0, 0);
    s.eager = eager;
    for (int64_t i = 0; i < s.n && eager; i++)
        s.event[i][2] = 0;
    return s;
}

/* Two savers of one thread, both of which are writing after the second save, and again after the third. */
static script script_of_two(mt_rng *rng)
{
    script s = { .async = true, .two = true };
    add(&s, MG_SAVER_SAVE, 2, MT_OK);
    s.event[0][1] = mg_pick(rng, 1, 500);
    add(&s, MG_SAVER_OTHER + MG_SAVER_SAVE, 2, MT_OK);
    add(&s, MG_SAVER_WAIT, 0, 0);
    add(&s, MG_SAVER_SAVE, 1, MT_OK);
    add(&s, MG_SAVER_WAIT, 0, 0);
    add(&s, MG_SAVER_OTHER + MG_SAVER_WAIT, 0, 0);
    return s;
}

/* What must come back. */
typedef struct wanted {
    int64_t status[EVENTS], done[EVENTS]; /* writes that are done when an event returns; -1: any number */
    int64_t about[EVENTS], close;         /* the step of the error that an event reports; status of close */
    int64_t step[EVENTS], writes;
    bool here[EVENTS]; /* a write is made in the thread of training */
} wanted;

static wanted want_of(const script *s)
{
    wanted w = { 0 };
    int64_t pending = MT_OK, failed = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t *e = s->event[i];
        bool here = !s->async || i < s->refused;
        w.status[i] = pending;
        w.about[i] = failed;
        w.done[i] = w.writes;
        if (e[0] == MG_SAVER_SAVE && pending == MT_OK) {
            w.here[w.writes] = here;
            w.step[w.writes++] = e[1];
            pending = e[3];
            failed = e[1];
            if (here) {
                w.status[i] = pending;
                w.about[i] = failed;
                w.done[i] = w.writes;
                pending = MT_OK;
            }
        } else {
            pending = MT_OK;
        }
    }
    w.close = pending;
    return w;
}

static wanted want_of_two(const script *s)
{
    return (wanted){ .done = { 0, 0, 1, 1, -1, 3 },
                     .step = { s->event[0][1], s->event[1][1], s->event[3][1] },
                     .writes = 3 };
}

/* Writes of two savers may begin in any order. */
static void order(wanted *w, const int64_t *step)
{
    for (int64_t i = 0; i < w->writes; i++)
        for (int64_t k = i + 1; k < w->writes && w->step[i] != step[i]; k++) {
            int64_t other = w->step[k];
            w->step[k] = w->step[i];
            w->step[i] = other;
        }
}

static bool judge_events(mg_run *run, const script *s, const wanted *w)
{
    const int64_t *status = mg_result(run, "status"), *done = mg_result(run, "done");
    const char *message = mg_result(run, "messages");
    char words[MG_SAVER_WORDS];
    for (int64_t i = 0; i < s->n; i++) {
        const char *name = s->event[i][0] % MG_SAVER_OTHER == MG_SAVER_SAVE ? "save" : "wait",
                   *said = message + i * MG_SAVER_WORDS;
        snprintf(words, sizeof words, "writing step %" PRId64 " failed: 100%% full", w->about[i]);
        if (status[i] != w->status[i])
            mg_fail(run, "event %" PRId64 ", a %s: status %" PRId64 ", expected %" PRId64, i + 1, name, status[i],
                    w->status[i]);
        else if (done[i] != w->done[i] && w->done[i] >= 0 && !s->eager)
            mg_fail(run, "event %" PRId64 ", a %s: when it returns, %" PRId64 " saves are written, expected %" PRId64,
                    i + 1, name, done[i], w->done[i]);
        else if (status[i] != MT_OK && !memmem(said, MG_SAVER_WORDS, words, strlen(words)))
            mg_fail(run, "event %" PRId64 ", a %s: mt_last_error() is \"%.399s\", expected that %s", i + 1, name, said,
                    words);
        else
            continue;
        return false;
    }
    return true;
}

static bool judge_write(mg_run *run, const wanted *w, int64_t i)
{
    const float *value = (const float *)mg_result(run, "values") + i * MG_SAVER_VALUES;
    const char *text = (const char *)mg_result(run, "texts") + i * MG_SAVER_WORDS;
    char rows[MG_SAVER_WORDS];
    int64_t step = ((const int64_t *)mg_result(run, "step"))[i];
    if (step != w->step[i])
        return mg_fail(run, "write %" PRId64 " is that of step %" PRId64 ", expected %" PRId64, i + 1, step,
                       w->step[i]);
    for (int k = 0; k < MG_SAVER_VALUES; k++)
        if (value[k] != mg_saver_value(step, k))
            return mg_fail(run, "step %" PRId64 ": value %d of the %s is written as %g, expected %g%s", step, k,
                           k < MG_SAVER_MODEL ? "model" : "rest", (double)value[k], (double)mg_saver_value(step, k),
                           value[k] == -1 ? "; it is what training changed it to" : "");
    snprintf(rows, sizeof rows, "rows=%" PRId64 " ", step);
    if (memmem(text, MG_SAVER_WORDS, rows, strlen(rows)) && memmem(text, MG_SAVER_WORDS, "dtype=f32 ", 10))
        return true;
    return mg_fail(run, "step %" PRId64 ": integers and settings are written as \"%.63s\"", step, text);
}

static bool judge_writes(mg_run *run, const script *s, const wanted *w)
{
    const int64_t *left = (const int64_t *)mg_result(run, "writes") + 2;
    int64_t writes = left[-2], close = left[-1];
    const int64_t *threads = mg_result(run, "threads");
    if (writes != w->writes)
        return mg_fail(run, "%" PRId64 " saves were written, expected %" PRId64, writes, w->writes);
    if (close != w->close)
        return mg_fail(run, "mt_saver_close returns %" PRId64 ", expected %" PRId64, close, w->close);
    for (int64_t i = 0; i < writes; i++) {
        int64_t thread = w->here[i] ? 1 : 2;
        if ((s->two ? threads[i] % 4 : threads[i]) != thread)
            return mg_fail(run, "write %" PRId64 " %s, expected in %s", i + 1,
                           threads[i] >= 4   ? "began before the one before it was done"
                           : threads[i] == 1 ? "was made in the thread of training"
                                             : "was made in another thread",
                           thread == 1 ? "the thread of training" : "another thread");
        if (!judge_write(run, w, i))
            return false;
    }
    if (!s->async && left[1]) {
        mg_hint(run, "without config.async nothing changes the values while they are written: no copy is needed");
        return mg_fail(run, "without config.async %" PRId64 " bytes are copied", left[1]);
    }
    if (*left)
        mg_fail(run, "after mt_saver_close %" PRId64 " bytes of copies are still allocated", *left);
    return *left == 0;
}

static bool make_saves(mg_run *run, script s)
{
    mg_begin(run, "mt_saver");
    mg_out(run, "status", MT_I64, MT_SHAPE(s.n));
    mg_out(run, "done", MT_I64, MT_SHAPE(s.n));
    mg_out(run, "messages", MT_U8, MT_SHAPE(s.n, MG_SAVER_WORDS));
    mg_out(run, "step", MT_I64, MT_SHAPE(s.n));
    mg_out(run, "threads", MT_I64, MT_SHAPE(s.n));
    mg_out(run, "values", MT_F32, MT_SHAPE(s.n, MG_SAVER_VALUES));
    mg_out(run, "texts", MT_U8, MT_SHAPE(s.n, MG_SAVER_WORDS));
    mg_out(run, "writes", MT_I64, MT_SHAPE(4));
    memcpy(mg_in(run, "script", MT_I64, MT_SHAPE(s.n, MG_SAVER_COLUMNS)), s.event, (size_t)s.n * sizeof s.event[0]);
    mg_i64(run, "async", s.async);
    mg_i64(run, "no thread", s.refused);
    mg_i64(run, "prepared", s.prepared);
    mg_i64(run, "eager", s.eager);
    return mg_call(run);
}

static bool try_saves(mg_run *run, saver_about about, bool eager)
{
    script s = script_of(mg_rng(run), about, eager);
    wanted w = want_of(&s);
    if (!make_saves(run, s))
        return false;
    if (eager)
        mg_hint(run, "the thread may be done before pthread_create returns: what it reads is set before, and what it "
                     "sets stays");
    return (about == SAVER_VALUES || judge_events(run, &s, &w)) &&
           (about == SAVER_GOES_ON || about == SAVER_WAITS || judge_writes(run, &s, &w));
}

static void try_two(mg_run *run)
{
    script s = script_of_two(mg_rng(run));
    wanted w = want_of_two(&s);
    if (!make_saves(run, s))
        return;
    order(&w, mg_result(run, "step"));
    mg_hint(run, "here are two savers, with lists of their own: thread and copies of a saver are in *s, not static");
    if (judge_events(run, &s, &w))
        judge_writes(run, &s, &w);
}

void mg_12_saver(mg_run *run, const void *one_case)
{
    saver_about about = ((const saver_case *)one_case)->about;
    bool good = try_saves(run, about, false);
    if (good && (about == SAVER_VALUES || about == SAVER_ERROR))
        try_saves(run, about, true);
    if (good && about == SAVER_NEXT)
        try_two(run);
}
