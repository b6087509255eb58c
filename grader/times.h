/* times.h -- the same units graded many times, with other inputs: which rows change their verdict. For `--times`. */
#pragma once

#include "report/results.h"

/* mg_times_add -- mg_options.graded: counts the verdicts, and prints the rows that have not all their points,
 *     5eed01  FAIL 0/8  01.3 tiled: every size
 * or "5eed01  full" if there is none. */
void mg_times_add(const mg_results *results);

/* mg_times_report -- how often each row had each verdict. */
void mg_times_report(const mg_results *results);
