/* grading.h -- grade one lab: collect, build, run its groups, fill the results. */
#ifndef MG_GRADING_H
#define MG_GRADING_H

#include "results.h"

#include <limits.h>

typedef struct mg_options {
    const mg_lab *lab;
    const char *root;       /* the repository; "." */
    const char *build;      /* "build/release" */
    const char *submission; /* folder or archive; NULL for labs/NN-name of the repository */
    const char *mine;       /* "00 02": also the student's units of these labs, from labs/; NULL for none */
    const char *step;       /* only this step; NULL for all */
    uint64_t seed;          /* 0 for a fresh one */
    bool marking;           /* refuse to run without a sandbox */
    void (*progress)(const mg_row *row, int64_t done, int64_t total); /* NULL for silence */
} mg_options;

/* mg_grade -- grade a lab; results->rows are the caller's to free with mg_results_free. Units that do not compile are a
 * result (build_log, every row FAIL), not a failure of this function. */
mt_status mg_grade(mg_results *results, const mg_options *options);
void mg_results_free(mg_results *results);

#endif
