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

/* Row i has run. While a step is not written, its last row decides about all of them (mg_rows_spread_todo). */
static void show(mg_shown *shown, mg_results *results, int64_t i, const mg_options *o, const mg_bench *bench)
{
    int64_t begin = i, end = i + 1;
    if (is_unwritten(bench, &results->rows[i])) {
        if (same_step(results, i, end))
            return;
        while (same_step(results, begin - 1, i))
            begin--;
    }
    mg_rows_spread_todo(results, begin, end, bench);
    for (; begin < end; begin++) {
        mg_row *row = &results->rows[begin];
        mg_rows_lead(results, begin, &bench->info);
        mg_row_no_return(row, bench, results->build_log);
        shown[begin] = (mg_shown){ true, row->verdict };
        if (o->watcher)
            o->watcher->row(results, row);
    }
}

void mg_show_changes(const mg_shown *shown, const mg_results *results, const mg_watcher *watcher)
{
    bool told = false;
    for (int64_t i = 0; watcher && i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        if (!shown[i].told || (row->verdict == shown[i].verdict && !row->acquitted))
            continue;
        if (!told)
            watcher->again(results);
        told = true;
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
}
