/* rows.c -- see rows.h. */
#include "rows/rows.h"
#include "report/excerpt.h"
#include "course/course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether `only`, "02.6" or "02.6 large logits" or "02 speed", means this row. */
static bool wanted(const mg_row *row, const char *only)
{
    size_t step = only ? strcspn(only, " ") : 0;
    return !only || (strncmp(row->step, only, step) == 0 && (!row->step[step] || strcspn(row->step, ".") == step) &&
                     strstr(row->name, only + step + strspn(only + step, " ")));
}

static const mg_case *case_of(const mg_group *group, int64_t i)
{
    return (const mg_case *)((const char *)group->cases + i * group->stride);
}

mt_status mg_rows_make(mg_results *results, const mg_lab *lab, const char *only)
{
    int64_t cases = 0;
    for (int64_t g = 0; g < lab->count; g++)
        cases += lab->groups[g].count;
    results->count = 0;
    results->rows = calloc((size_t)cases + 1, sizeof results->rows[0]);
    MT_CHECK(results->rows, "out of memory");
    for (int64_t g = 0; g < lab->count; g++) {
        const mg_group *group = &lab->groups[g];
        for (int64_t i = 0; i < group->count; i++) {
            const mg_case *c = case_of(group, i);
            mg_row *row = &results->rows[results->count];
            snprintf(row->step, sizeof row->step, "%s", group->step);
            snprintf(row->name, sizeof row->name, "%s%s%s", group->title, c->name ? ": " : "", c->name ? c->name : "");
            snprintf(row->hint, sizeof row->hint, "%s", c->hint ? c->hint : "");
            row->max = c->points;
            row->is = c->is;
            row->group = group;
            row->one_case = c;
            results->count += wanted(row, only);
        }
    }
    mg_course_apply(results, results->course, time(NULL));
    if (results->count > 0)
        return MT_OK;
    free(results->rows);
    results->rows = NULL;
    if (!only)
        return mt_fail(MT_ERR_ARGUMENT, "lab %s has no step with checks", lab->id);
    return mt_fail(MT_ERR_ARGUMENT, "lab %s has no step %s; its first is %s", lab->id, only, lab->groups[0].step);
}

void mg_results_free(mg_results *results)
{
    free(results->rows);
    mg_sources_free(results->sources);
    *results = (mg_results){ 0 };
}

void mg_rows_add_up(mg_results *results)
{
    results->points = results->max = 0;
    for (int64_t i = 0; i < results->count; i++) {
        results->points += results->rows[i].ran ? results->rows[i].points : 0;
        results->max += results->rows[i].max;
    }
}

mg_row mg_row_seen(const mg_row *row)
{
    mg_row seen = *row;
    const mg_case *c = row->one_case;
    if (!row->hidden)
        return seen;
    if (seen.hint[0]) /* one about the wrong values, or a crash, says too much */
        snprintf(seen.hint, sizeof seen.hint, "%s", c && c->hint ? c->hint : "");
    seen.part[0] = seen.call[0] = seen.detail[0] = seen.printed[0] = seen.note[0] = seen.follows[0] = 0;
    seen.seed = 0;
    seen.same = false;
    seen.measured = seen.low = seen.full = seen.toy = seen.reference = NAN;
    seen.flops = seen.bytes = 0;
    seen.counted = (mg_counted){ 0 };
    return seen;
}

/* ---- leading and following ---------------------------------------------------------------------- */

bool mg_row_failed(const mg_row *row)
{
    return row->verdict == MG_FAIL || row->verdict == MG_CRASH || row->verdict == MG_TIMEOUT;
}

bool mg_row_measures(const mg_row *row)
{
    return row->is & (MG_TIMED | MG_COUNTS);
}

/* "mt_relu_fwd_cuda" of "mt_relu_fwd_cuda of many rows(out, x, n=1)". */
static size_t function_length(const mg_row *row)
{
    return strcspn(row->call, "( ");
}

/* A row whose values were right, and whose bar was missed, has a cause of its own. A call that was skipped would have
 * failed as those before it did, of whatever step. */
static bool same_cause(const mg_row *a, const mg_row *b)
{
    if (strncmp(b->detail, "skipped: ", 9) == 0 && strcmp(a->function, b->function) == 0)
        return true;
    size_t n = function_length(a);
    return strcmp(a->step, b->step) == 0 && isnan(a->measured) && isnan(b->measured) && n == function_length(b) &&
           strncmp(a->call, b->call, n) == 0;
}

/* Whether `step` is one of the words of `list`. */
static bool listed(const char *list, const char *step)
{
    size_t n = strlen(step);
    for (const char *at = list; (at = strstr(at, step)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* A forward function calls none that computes gradients; a backward kernel gets what forward saved from the checker. */
static bool can_cause(const mg_row *lead, const mg_row *row)
{
    bool forward = strstr(row->function, "_fwd") || strstr(row->function, "_forward");
    if (strstr(row->function, "_bwd_") && strstr(lead->function, "_fwd_"))
        return false;
    return !forward || !(strstr(lead->function, "_bwd") || strstr(lead->function, "_backward"));
}

void mg_rows_lead(mg_results *results, int64_t i, const mg_labinfo *info)
{
    mg_row *row = &results->rows[i];
    const char *needs = mg_labinfo_needs(info, row->step);
    if (!mg_row_failed(row) || !row->call[0]) /* its unit does not build, and the note says so */
        return;
    for (int64_t j = 0; j < i; j++) {
        const mg_row *lead = &results->rows[j];
        if (!lead->ran || !mg_row_failed(lead) || lead->follows[0] || !lead->call[0])
            continue;
        row->same = same_cause(lead, row);
        if (row->same || (listed(needs, lead->step) && can_cause(lead, row))) {
            snprintf(row->follows, sizeof row->follows, "%s %s", lead->step, lead->name);
            return;
        }
    }
}

void mg_row_no_return(mg_row *row, const mg_bench *bench, const char *build_log)
{
    char where[128], detail[sizeof row->detail];
    if (!mg_row_failed(row) ||
        !mg_build_no_return(&bench->build, build_log, row->step, row->function, where, sizeof where))
        return;
    memcpy(detail, row->detail, sizeof detail);
    snprintf(row->detail, sizeof row->detail,
             "%s: control reaches the end of a function that must return a value\n%.800s", where, detail);
    snprintf(row->hint, sizeof row->hint, "write the return first: without it the value is arbitrary");
}

/* ---- unwritten and easy rows -------------------------------------------------------------------- */

const mg_row *mg_rows_first(const mg_results *results, int64_t i)
{
    const mg_row *row = results->rows;
    while (strcmp(row->step, results->rows[i].step) != 0 ||
           strcmp(row->group->title, results->rows[i].group->title) != 0)
        row++;
    return row;
}

/* The verdict of an easy row that no other row stands beside. */
static void take_points(mg_row *row, const mg_row *waits, bool unwritten)
{
    row->points = 0;
    row->hint[0] = row->note[0] = 0;
    if (waits || unwritten) {
        row->verdict = MG_TODO;
        snprintf(row->note, sizeof row->note, "%s", waits ? waits->note : "");
        return;
    }
    row->verdict = MG_FAIL;
    snprintf(row->detail, sizeof row->detail,
             "an empty function passes this row, too: its points count when another row of step %s passes", row->step);
}

bool mg_rows_easy(mg_results *results, int64_t begin, int64_t end, const mg_bench *bench)
{
    const mg_row *waits = NULL, *hard = NULL;
    bool all_ran = true;
    for (int64_t i = begin; i < end; i++) {
        const mg_row *row = &results->rows[i];
        all_ran = all_ran && row->ran;
        if (row->is & MG_EASY)
            continue;
        hard = row;
        if (row->ran &&
            (row->verdict == MG_PASS || mg_verdict_open(row->verdict))) /* or it may be the one that works */
            return true;
        waits = !waits && row->ran && row->verdict == MG_TODO ? row : waits;
    }
    bool unwritten = mg_build_unwritten(&bench->build, &bench->info, results->rows[begin].step);
    for (int64_t i = begin; all_ran && (hard || unwritten) && i < end; i++)
        if (results->rows[i].verdict == MG_PASS)
            take_points(&results->rows[i], waits, unwritten && !hard);
    return all_ran;
}
