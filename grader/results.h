/* results.h -- the outcome of grading one lab, as the checker fills it and the reports print it. */
#ifndef MG_RESULTS_H
#define MG_RESULTS_H

#include "check.h"

#include <stdio.h>

typedef struct mg_row {
    char step[16]; /* "02.5" */
    char name[96]; /* "softmax: large logits" */
    mg_verdict verdict;
    double points, max;
    char call[512];    /* "mt_softmax_fwd_cpu(out, x, N=4, C=10)"; empty when nothing was called */
    uint64_t seed;     /* of the inputs of that call */
    char detail[1024]; /* "out[0,3] = nan   expected 0.135335   tolerance 1.2e-06" */
    char hint[256];    /* shown with every verdict but PASS and TODO */
    char note[256];    /* shown beside a PASS or a measured row: "0.91x of the reference (bar 0.50 .. 0.95)" */
    double measured;   /* the ratio or count behind a bar, NaN when the row has none */
    double low, full;  /* the bar, when measured is not NaN */
} mg_row;

typedef struct mg_results {
    char lab[32];         /* "02-backprop" */
    char title[96];       /* of lab.json: "backprop" */
    char units[256];      /* where the units came from: "labs/02-backprop" */
    char machine[256];    /* CPU model, cores, compiler */
    char build_log[4096]; /* output of the compiler or linker if the units did not build, else empty */
    char warning[512];    /* "no sandbox: bubblewrap is not installed (apt-get install bubblewrap)"; empty otherwise */
    char
        ignored[512]; /* files of a submission that were not taken, and why: "Makefile (not a unit)"; empty when none */
    double points, max, seconds;
    mg_row *rows;
    int64_t count;
} mg_results;

const char *mg_verdict_name(mg_verdict verdict); /* "PASS", ... */

/* mg_report_text -- the terminal table; colour when `out` is a tty. Ends with the machine line
 * "grade 02: 63/85 TODO=1 FAIL=1" (only verdicts that occurred, PASS left out). */
void mg_report_text(FILE *out, const mg_results *results, const char *html_path);

/* mg_report_json -- results.json in Gradescope's schema (score, tests[].name/score/max_score/status/output,
 * extra_data). */
mt_status mg_report_json(const char *path, const mg_results *results);

/* mg_report_html -- one self-contained page: the table, and an inline SVG of measured rows against their bars. */
mt_status mg_report_html(const char *path, const mg_results *results);

#endif
