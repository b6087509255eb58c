/* running.c -- see running.h. */
#include "running.h"
#include "rows/rows.h"

#include <stdio.h>
#include <string.h>

/* The first row of this one's title, if its call ended at an MT_TODO. */
static const mg_row *unwritten(const mg_results *results, int64_t i)
{
    const mg_row *first = mg_rows_first(results, i);
    return first != &results->rows[i] && first->ran && first->unwritten ? first : NULL;
}

/* A row that measures takes as long as many others. One that is not written says so at once. */
static bool comes_last(const mg_results *results, int64_t i)
{
    return mg_row_measures(&results->rows[i]) && (mg_row_measures(mg_rows_first(results, i)) || !unwritten(results, i));
}

static bool same_step(const mg_results *results, int64_t i, int64_t j)
{
    return i >= 0 && j < results->count && strcmp(results->rows[i].step, results->rows[j].step) == 0;
}

static void tell(mg_shown *shown, const mg_results *results, int64_t i, const mg_options *o)
{
    shown[i] = (mg_shown){ true, results->rows[i].verdict };
    if (o->watcher)
        o->watcher->row(results, &results->rows[i]);
}

/* Row i has run. Easy rows of its step that pass are shown when no other row takes that from them any more. */
static void show(mg_shown *shown, mg_results *results, int64_t i, const mg_options *o, const mg_bench *bench)
{
    int64_t begin = i, end = i + 1;
    while (same_step(results, begin - 1, i))
        begin--;
    while (same_step(results, i, end))
        end++;
    mg_rows_lead(results, i, &bench->info);
    mg_row_no_return(&results->rows[i], bench, results->build_log);
    bool settled = mg_rows_easy(results, begin, end, bench);
    for (int64_t j = begin; j < end; j++) {
        const mg_row *row = &results->rows[j];
        if (row->ran && !shown[j].reported && (settled || row->verdict != MG_PASS || !(row->is & MG_EASY)))
            tell(shown, results, j, o);
    }
}

void mg_show_changes(const mg_shown *shown, const mg_results *results, const mg_watcher *watcher)
{
    bool again = false;
    for (int64_t i = 0; watcher && i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        if (!shown[i].reported || (row->verdict == shown[i].verdict && !row->acquitted))
            continue;
        if (!again)
            watcher->again(results);
        again = true;
        watcher->row(results, row);
    }
}

/* The row has called a unit that was left out: compile that, and link. False: the row stands as it is. */
static bool add_asked(mg_results *results, const mg_options *o, mg_bench *bench)
{
    char unit[sizeof bench->asked];
    memcpy(unit, bench->asked, sizeof unit);
    bench->asked[0] = bench->counting_path[0] = bench->uncounted[0] = 0;
    size_t known = strlen(results->build_log);
    mt_status status = mg_build_more(&bench->build, &bench->info, unit, results->build_log, sizeof results->build_log);
    if (status == MT_OK)
        status = mg_link_worker(bench, o, results);
    if (o->watcher)
        o->watcher->said(results->build_log + known);
    return status == MT_OK;
}

/* Run row i; the session is that of the row before, if they are of one group. Without options nothing is compiled. */
static mg_session *run_row(mg_results *results, int64_t i, const mg_options *o, mg_bench *bench, mg_session *session)
{
    mg_row *row = &results->rows[i];
    const mg_row *first = unwritten(results, i), before = *row;
    const uint32_t shift = bench->shift;
    mg_run run;
    double begin = mt_now();
    mg_run_begin(&run, bench, row, session);
    if (first)
        mg_run_unwritten(&run, first);
    else
        row->group->run(&run, row->one_case);
    mg_run_end(&run);
    row->ran = !mg_stop;
    row->seconds = mt_now() - begin;
    if (!bench->asked[0] || !o || mg_stop)
        return run.session;
    mg_session_end(run.session);
    if (add_asked(results, o, bench)) {
        *row = before;
        bench->shift = shift; /* the same calls at the same addresses */
        return run_row(results, i, o, bench, NULL);
    }
    row->verdict = MG_ERROR;
    row->unwritten = false;
    snprintf(row->detail, sizeof row->detail, "%s", mt_last_error());
    return NULL;
}

void mg_run_rows(mg_results *results, const mg_options *o, mg_bench *bench, const bool *only, mg_shown *shown)
{
    const mg_group *group = NULL;
    mg_session *session = NULL;
    int64_t count = results->count, done = 0;
    bool ended = false;
    for (int64_t place = 0; place < 2 * count && !ended && !mg_stop; place++) {
        int64_t i = place % count;
        mg_row *row = &results->rows[i];
        if ((only && !only[i]) || comes_last(results, i) != (place >= count))
            continue;
        if (row->group != group) {
            mg_session_end(session);
            session = NULL;
        }
        group = row->group;
        if (shown && o->watcher)
            o->watcher->next(row, done++, count);
        session = run_row(results, i, shown ? o : NULL, bench, session);
        ended = shown && o->until_failure && mg_row_failed(row);
        if (ended)
            results->count = i + 1;
        if (shown && row->ran)
            show(shown, results, i, o, bench);
    }
    mg_session_end(session);
    for (int64_t i = 0; shown && i < results->count; i++)
        if (results->rows[i].ran && !shown[i].reported) /* the grade ended before the other rows of its step had run */
            tell(shown, results, i, o);
}
