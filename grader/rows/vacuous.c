/* vacuous.c -- rows that a function passes although it does nothing (no elements, gradients of zero, a refusal that is
 * expected) earn points only beside a row of their step that a function must work for.
 *
 * Which rows these are is tried: a passing row is judged again with the answers of functions that leave all outputs as
 * they are, or fill them with a constant. Where given code around the student's decides, lab.json lists the row
 * (mg_labinfo_idle); labs.sh grades units with empty regions. In a step without failures the first row that a function
 * must work for is enough. */
#include "rows/rows.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4 };

void mg_idle_answer(mg_run *run)
{
    for (int i = 0; i < run->arguments; i++) {
        mg_argument *a = &run->argument[i];
        if (!a->result)
            continue;
        memcpy(a->result, a->data, (size_t)a->bytes);
        for (int64_t e = 0, n = mt_shape_numel(a->shape); e < n && run->bench->idle > 1; e++)
            mt_store_f64(a->result, a->dtype, e, run->bench->idle - 2); /* 0, 1, 2 */
    }
}

static bool passes_idle(const mg_row *row, const mg_bench *bench)
{
    if (mg_labinfo_idle(&bench->info, row->step, row->name))
        return true;
    mg_row again = *row;
    mg_bench *b = malloc(sizeof *b);
    MT_CHECK(b, "out of memory");
    *b = *bench;
    b->todos = b->failures = 0;
    b->capture.file = NULL; /* which has the unit's calls */
    bool passed = false;
    for (b->idle = 1; b->idle <= WAYS && !passed; b->idle++) {
        mg_run run;
        mg_run_begin(&run, b, &again, NULL);
        row->group->run(&run, row->one_case);
        mg_run_end(&run);
        passed = again.verdict == MG_PASS;
    }
    free(b);
    return passed;
}

bool mg_rows_vacuous(mg_results *results, int64_t begin, int64_t end, const mg_bench *bench)
{
    bool failed = false, all_ran = true;
    for (int64_t i = begin; i < end; i++) {
        const mg_row *row = &results->rows[i];
        all_ran = all_ran && row->ran;
        failed = failed || (row->ran && row->verdict != MG_PASS);
        if (row->ran && mg_verdict_open(row->verdict))
            return true; /* it may be the one that works */
    }
    for (int64_t i = begin; (failed || !all_ran) && i < end; i++)
        if (results->rows[i].ran && results->rows[i].verdict == MG_PASS && !passes_idle(&results->rows[i], bench))
            return true;
    for (int64_t i = begin; failed && all_ran && i < end; i++)
        if (results->rows[i].verdict == MG_PASS) {
            mg_row *row = &results->rows[i];
            row->verdict = MG_FAIL;
            row->points = 0;
            row->hint[0] = 0;
            snprintf(row->detail, sizeof row->detail,
                     "an empty function passes this row, too: its points count when another row of step %s passes",
                     row->step);
        }
    return all_ran;
}
