/* running.c -- see running.h. */
#include "running.h"
#include "rows/rows.h"

#include <stdio.h>
#include <string.h>

static bool is_unwritten(const mg_bench *bench, const mg_row *row)
{
    return mg_build_unwritten(&bench->build, &bench->info, row->step);
}

/* A row that measures takes as long as many others. One of a step that is not written says so at once. */
static bool comes_last(const mg_bench *bench, const mg_row *row)
{
    return mg_row_measures(row) && !is_unwritten(bench, row);
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

/* Show the rows of a step, begin .. end - 1, that have run and are not shown yet. One that passes is shown when no
 * other takes that from it any more (mg_rows_vacuous), which one that was shown says for all. */
static void show_step(mg_shown *shown, mg_results *results, int64_t begin, int64_t end, const mg_options *o,
                      const mg_bench *bench)
{
    bool settled = false;
    for (int64_t i = begin; i < end; i++)
        settled = settled || (shown[i].reported && shown[i].verdict == MG_PASS);
    settled = settled || mg_rows_vacuous(results, begin, end, bench);
    for (int64_t i = begin; i < end; i++)
        if (results->rows[i].ran && !shown[i].reported && (settled || results->rows[i].verdict != MG_PASS))
            tell(shown, results, i, o);
}

/* Row i has run. While a step is not written, its last row decides about all of them (mg_rows_spread_todo). */
static void show(mg_shown *shown, mg_results *results, int64_t i, const mg_options *o, const mg_bench *bench)
{
    int64_t begin = i, end = i + 1;
    bool unwritten = is_unwritten(bench, &results->rows[i]);
    if (unwritten && same_step(results, i, end))
        return;
    while (same_step(results, begin - 1, i))
        begin--;
    while (same_step(results, i, end))
        end++;
    mg_rows_spread_todo(results, unwritten ? begin : i, i + 1, bench);
    for (int64_t j = unwritten ? begin : i; j <= i; j++) {
        mg_rows_lead(results, j, &bench->info);
        mg_row_no_return(&results->rows[j], bench, results->build_log);
    }
    show_step(shown, results, begin, end, o, bench);
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

/* Run a row; the session is that of the row before, if they are of one group. */
static mg_session *run_row(mg_row *row, mg_bench *bench, mg_session *session)
{
    mg_run run;
    double begin = mt_now();
    mg_run_begin(&run, bench, row, session);
    row->group->run(&run, row->one_case);
    mg_run_end(&run);
    row->ran = !mg_stop;
    row->seconds = mt_now() - begin;
    return run.session;
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
        if ((only && !only[i]) || comes_last(bench, row) != (place >= count))
            continue;
        if (row->group != group) {
            mg_session_end(session);
            session = NULL;
        }
        group = row->group;
        if (shown && o->watcher)
            o->watcher->next(row, done++, count);
        session = run_row(row, bench, session);
        ended = shown && o->until_failure && mg_row_failed(row);
        if (ended)
            results->count = i + 1;
        if (shown && row->ran)
            show(shown, results, i, o, bench);
    }
    mg_session_end(session);
    mg_rows_spread_todo(results, 0, results->count, bench);
    for (int64_t i = 0; shown && i < results->count; i++)
        if (results->rows[i].ran && !shown[i].reported) /* the grade ended before the other rows of its step had run */
            tell(shown, results, i, o);
}
