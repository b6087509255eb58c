/* running.h -- run the rows of a grading and show each as soon as it is final. */
#pragma once

#include "grading.h"
#include "rows/run.h"

/* What was shown of a row. */
typedef struct mg_shown {
    bool reported;
    mg_verdict verdict;
} mg_shown;

/* mg_run_rows -- run all rows, or those with `only[i]`, and tell options->watcher of each as soon as the others of its
 * step do not change its verdict any more. `shown`, one entry for each row, keeps the verdict that was reported; NULL:
 * nothing is reported, and easy rows stay as they are. Rows that measure (mg_row_measures) run last, so that a wrong
 * value is seen soon; they stay at their place in results. */
void mg_run_rows(mg_results *results, const mg_options *options, mg_bench *bench, const bool *only, mg_shown *shown);

/* mg_link_worker -- link the worker with the submission's units; if that fails, with those too that were left out, and
 * then without those at fault. */
mt_status mg_link_worker(mg_bench *bench, const mg_options *options, mg_results *results);

/* mg_show_changes -- show rows again that the search for the lab at fault, or a row that measures, has changed. */
void mg_show_changes(const mg_shown *shown, const mg_results *results, const mg_watcher *watcher);
