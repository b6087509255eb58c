/* similar.h -- which submissions of a lab are copies: of each other, of earlier years', of the reference. */
#pragma once

#include "jobs.h"

typedef struct mg_search {
    const char *earlier; /* folders of submissions of earlier years, separated by ':'; NULL for none */
    double threshold;    /* per cent */
} mg_search;

/* mg_similar -- compare the submissions of the gradebook, and name the pairs of which one consists for at least
 * `threshold` per cent of the other's text: layout, comments, and the names of variables and functions count for
 * nothing, nor do lines that the skeleton has. The pairs replace those of the lab in the book's table `similarity`, and
 * are printed. */
mt_status mg_similar(mg_book *book, const mg_plan *plan, const mg_search *search);
