/* excerpt.h -- the lines of a unit that a failed row is about. */
#pragma once

#include "labinfo.h"
#include "report/results.h"

/* Lines first .. last of a unit, 1-based. */
typedef struct mg_excerpt {
    const mg_source *source;
    int first, last;
    int marked; /* the line that the row's message names; 0: none */
} mg_excerpt;

/* mg_sources_read -- the lab's units in that folder; units that are not there are left out. mg_sources_free: NULL is
 * allowed. */
mg_sources *mg_sources_read(const char *folder, const mg_labinfo *info);
void mg_sources_free(mg_sources *sources);

/* mg_excerpt_find -- at most `most` excerpts: the function around the line that the row's message names
 * ("softmax.c:41"), the function that it called, and helpers with a region of the row's step. Returns how many. */
int mg_excerpt_find(mg_excerpt *excerpts, int most, const mg_sources *sources, const mg_row *row);

/* mg_excerpt_todo -- the line of the first MT_TODO of a step; false: there is none. */
bool mg_excerpt_todo(mg_excerpt *at, const mg_sources *sources, const char *step);

/* mg_excerpt_line -- the text of a line, without its end, and its length; NULL behind the last. */
const char *mg_excerpt_line(const mg_source *source, int line, int *length);
