/* page.h -- the parts of a submission's page. Each writes its section, or nothing when it has no content. */
#pragma once

#include "report/html.h"

/* mg_html_failed -- failed rows, each with what was called, what was wrong, the hint, and the code. */
void mg_html_failed(FILE *out, const mg_results *results);

/* mg_html_measured -- rows with a bar: the measured number between "low" and "full". */
void mg_html_measured(FILE *out, const mg_results *results);

/* mg_html_roofline -- FLOPs for each byte of the rows that count both, and the share of the peak that they allow. */
void mg_html_roofline(FILE *out, const mg_results *results);

/* mg_html_lines -- what the emulator counted for each line of the units, and the banks of a request. */
void mg_html_lines(FILE *out, const mg_results *results);

/* mg_html_has -- whether a section of this name has content: "failed", "measured", "roofline", "lines". */
bool mg_html_has(const mg_results *results, const char *section);

/* mg_html_failed_row -- FAIL, CRASH or TIMEOUT, of a row that ran. */
bool mg_html_failed_row(const mg_row *row);
