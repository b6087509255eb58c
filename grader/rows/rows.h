/* rows.h -- the table of rows of one grading: made before the first call, completed row by row. */
#pragma once

#include "grading.h"
#include "rows/run.h"

/* mg_rows_make -- one row for each case of the lab, of one step ("02.6"), or of a step's rows with these words in their
 * names ("02.6 large logits"), or of the whole lab's ("02 speed"); NULL: all. The caller frees with mg_results_free.
 * MT_ERR_ARGUMENT: there is none. */
mt_status mg_rows_make(mg_results *results, const mg_lab *lab, const char *only);

/* mg_rows_add_up -- the points of all rows. */
void mg_rows_add_up(mg_results *results);

/* mg_row_failed -- FAIL, CRASH or TIMEOUT. */
bool mg_row_failed(const mg_row *row);

/* mg_row_measures -- whether it asks how fast, or with how many bytes moved, and not for values. */
bool mg_row_measures(const mg_row *row);

/* mg_rows_lead -- row `i` has its verdict: if a row before it has failed in the same function, or in a step that this
 * one needs (lab.json, "needs"), the row follows that one and its own hint would mislead. */
void mg_rows_lead(mg_results *results, int64_t i, const mg_labinfo *info);

/* mg_row_no_return -- a row that failed in a function without its `return` says that first: wrong values follow. */
void mg_row_no_return(mg_row *row, const mg_bench *bench, const char *build_log);

/* mg_rows_first -- the first row of row i's step and title; it decides whether these are written (check.h). */
const mg_row *mg_rows_first(const mg_results *results, int64_t i);

/* mg_rows_easy -- of rows begin .. end - 1, one step, those that are easy (MG_EASY) lose their points where no other
 * row passes: they are TODO when one waits for what is not written, else FAIL. False, and nothing is done, while that
 * depends on a row that has not run. */
bool mg_rows_easy(mg_results *results, int64_t begin, int64_t end, const mg_bench *bench);
