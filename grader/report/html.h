/* html.h -- what all HTML pages of the grader have in common: one head with its styles, elements with untrusted
 * text, bars. A page has no script, font or picture from elsewhere; its policy forbids them. All text that may come
 * from a submission goes through mg_put_element. */
#pragma once

#include "report/results.h"

/* mg_page_begin -- from the doctype to <main>, with a heading. mg_page_end: to </html>. */
void mg_page_begin(FILE *out, const char *title, const char *heading);
void mg_page_end(FILE *out);

/* mg_put_element -- put `open` and `close` as they are, and the text, escaped, between them. */
void mg_put_element(FILE *out, const char *open, const char *text, const char *close);

/* mg_put_share -- a bar for part / whole, for people only: the numbers stand beside it. */
void mg_put_share(FILE *out, double part, double whole);

/* mg_seconds -- "0.41 s", "75 s", "12 min". Returns buffer. */
char *mg_seconds(char buffer[32], double seconds);
