/* class.h -- the page of a class: from the gradebook (grader/batch/book.h), nothing else. */
#pragma once

#include "batch/book.h"
#include "report/html.h"

/* What the page is made of; statements name the tables of book.c. */
typedef struct mg_class_page {
    FILE *out;
    mg_book *book;
    const char *lab; /* "02-backprop" */
    mt_status status;
} mg_class_page;

/* mg_class_query -- a statement whose only argument is the lab; mg_class_next -- its next row, false after the last:
 * then it is freed, and an error is kept in page->status. */
sqlite3_stmt *mg_class_query(mg_class_page *page, const char *sql);
bool mg_class_next(mg_class_page *page, sqlite3_stmt *query);

/* The sections: scores, steps and rows (class_rows.c); students, late ones, pairs (class_list.c). */
void mg_class_scores(mg_class_page *page);
void mg_class_steps(mg_class_page *page);
void mg_class_hardest(mg_class_page *page);
void mg_class_students(mg_class_page *page);
void mg_class_refused(mg_class_page *page);
void mg_class_similar(mg_class_page *page);
void mg_class_slowest(mg_class_page *page);
