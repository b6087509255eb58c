/* grading.h -- grade one lab: collect, build, run its groups, fill the results. */
#pragma once

#include "report/results.h"

#include <limits.h>

/* What is told while a grading runs. */
typedef struct mg_watcher {
    void (*begin)(const mg_results *results);                     /* the units are built, no row has run */
    void (*next)(const mg_row *row, int64_t done, int64_t total); /* this row is about to run */
    void (*row)(const mg_results *results, const mg_row *row);    /* this row is ready */
    void (*again)(const mg_results *results);                     /* rows that follow now were shown otherwise before */
    void (*said)(const char *log); /* what the compiler says of a unit that a row calls first */
} mg_watcher;

typedef struct mg_options {
    const mg_lab *lab;
    const char *root;                   /* the repository; "." */
    const char *build;                  /* "build/release" */
    const char *submission;             /* folder or archive; NULL for labs/NN-name of the repository */
    const char *mine;                   /* "00 02": also the student's units of these labs, from labs/; NULL for none */
    const char *step;                   /* only these rows (mg_rows_make); NULL for all */
    const char *again;                  /* only the rows that this report has as INCONCLUSIVE; NULL for all */
    uint64_t seed;                      /* 0 for the course's, or a fresh one */
    const struct mg_course_lab *course; /* points of the rows, and who sees them (course.h); NULL for the checks' */
    bool any_symbol;                    /* for tests of the sandbox: units may use any symbol that can be linked */
    bool marking;                       /* refuse to run without a sandbox */
    const char *sandbox;                /* "bubblewrap", "landlock", "none"; NULL for the strongest that works */
    bool until_failure;                 /* end with the first row that fails */
    bool no_speed;                      /* rows that measure speed are INCONCLUSIVE */
    double limit;  /* seconds of processor time for each row, if the lab allows more; 0 for the lab's */
    int64_t times; /* gradings of the same units, each with other inputs; 0: one */
    void (*graded)(const mg_results *results); /* after each of them; NULL for nothing */
    const char *capture;       /* a file for the calls of the first row that fails (capture.h); NULL for none */
    const mg_watcher *watcher; /* NULL for none */
} mg_options;

/* mg_grade -- grade a lab; results->rows are the caller's to free with mg_results_free. A unit that does not
 * compile is a result (build_log, the rows that call it FAIL), not a failure of this function. */
/* mg_stop -- set by a signal handler: the grading ends soon, and rows that did not run have `ran` false. */
mt_status mg_grade(mg_results *results, const mg_options *options);
void mg_results_free(mg_results *results);
