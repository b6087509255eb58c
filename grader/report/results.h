/* results.h -- the outcome of grading one lab, as the checker fills it and the reports print it. */
#pragma once

#include "check.h"
#include "sandbox/wire_device.h"

#include <stdio.h>

/* An access of a unit to the emulated device's memory, with its line; from the worker, not trusted. */
typedef struct mg_site {
    mg_device_site count;
    char unit[48]; /* "transpose.cu"; empty: in given code */
    int line;
} mg_site;

/* What the emulator counted in the call behind a bar. */
typedef struct mg_counted {
    int sites;
    mg_site site[MG_SITES];
    mg_site drawn; /* of one request to shared memory */
    uint32_t lanes, offset[32];
} mg_counted;

/* The text of a unit as it was graded, for excerpts. */
typedef struct mg_source {
    char unit[64];
    char *text; /* ends with 0; a 0 in the file became 1 */
} mg_source;

typedef struct mg_sources {
    int count;
    mg_source source[];
} mg_sources;

typedef struct mg_row {
    char step[16]; /* "02.5" */
    char name[96]; /* "softmax: large logits" */
    mg_verdict verdict;
    double points, max;
    char part[128];        /* of the row, that failed: "no elements"; empty when the row has no parts */
    char call[512];        /* "mt_softmax_fwd_cpu(out, x, N=4, C=10)"; empty when nothing was called */
    uint64_t seed;         /* of the inputs of that call */
    char detail[1024];     /* "out[0,3] = nan   expected 0.135335   tolerance 1.2e-06" */
    char hint[400];        /* shown with every verdict but PASS and TODO */
    char printed[640];     /* the last lines that it printed, of a row that failed */
    char note[256];        /* shown beside a PASS or a measured row: "0.91x of the reference (bar 0.50 .. 0.95)" */
    double measured;       /* the ratio or count behind a bar, NaN when the row has none */
    double low, full;      /* the bar, when measured is not NaN */
    double toy, reference; /* measured with a simple version and with the reference (lab.json); NaN: not there */
    double flops, bytes;   /* of the counted call, for the roofline; 0: not known */
    double seconds;        /* that the row took */
    mg_counted counted;
    bool ran;              /* it has its verdict; otherwise the row is left out */
    bool unwritten;        /* its call ended at an MT_TODO, or in the stub of a unit that does not build */
    bool hidden;           /* reports have its name, verdict, points and hint only (mg_row_seen) */
    char follows[120];     /* the row that failed before it for what is probably the same reason; empty for none */
    bool same;             /* that one failed in the same function: what it says is enough */
    bool acquitted;        /* it passes with the reference's units of an earlier lab, which the hint names */
    char function[64];     /* that was called last */
    unsigned is;           /* as its case says: MG_EASY ... */
    const mg_group *group; /* the row's case, for the grader */
    const void *one_case;
} mg_row;

typedef struct mg_results {
    char lab[32];          /* "02-backprop" */
    char title[96];        /* of lab.json: "backprop" */
    char units[256];       /* where the units came from: "labs/02-backprop" */
    char machine[256];     /* CPU model, cores, compiler */
    char build_log[8192];  /* what the compiler said about the units: warnings, and why one does not build */
    char machine_code[96]; /* "identical machine code to the reference in 3 of 5 functions: look", for instructors: in
                              no report; empty otherwise (build/machine.h) */
    char warning[2048];    /* "no sandbox: bubblewrap is not installed (apt-get install bubblewrap)"; empty otherwise */
    char
        ignored[512]; /* files of a submission that were not taken, and why: "Makefile (not a unit)"; empty when none */
    char remark[256]; /* "Graded: step 02.3. 40 rows are from the grade before."; empty for a whole grade */
    double points, max, seconds;
    double calls;                       /* seconds of processor time that all calls used */
    int64_t recalled, missing;          /* rows of mg_recall that are from the grade before, or from none */
    const struct mg_course_lab *course; /* the points of the rows, and who sees them; NULL: those of the checks */
    mg_row *rows;
    int64_t count;
    mg_sources *sources; /* of the graded units; NULL: not known */
} mg_results;

const char *mg_verdict_name(mg_verdict verdict); /* "PASS", ... */

/* mg_errors -- how many rows the grader itself could not run (MG_ERROR). If there are any, these results are no grade:
 * every report says so, and none has a score. */
int64_t mg_errors(const mg_results *results);

/* mg_verdict_open -- INCONCLUSIVE, REVIEW, SKIPPED, ERROR: the row says nothing about the unit yet. */
bool mg_verdict_open(mg_verdict verdict);

/* mg_row_seen -- a row as reports show it: of a hidden one the name, verdict, points and hint. */
mg_row mg_row_seen(const mg_row *row);

enum { MG_WIDTH = 80 }; /* columns of a terminal */

/* mg_report_text -- the terminal table, in three parts, so that rows appear when they are ready: what is known before
 * the first row, one row, and the end. Colour when `out` is a tty. Lines have at most `width` columns where words allow
 * it; 0: a line each, for scripts. It ends with the machine line "grade 02: 63/85 TODO=1 FAIL=1" (only verdicts that
 * occurred, PASS left out). */
void mg_report_begin(FILE *out, const mg_results *results);
void mg_report_compiler(FILE *out, const char *log); /* what the compiler says; nothing of an empty log */
void mg_report_row(FILE *out, const mg_results *results, const mg_row *row, int width);
void mg_report_end(FILE *out, const mg_results *results, const char *html_path);
void mg_report_text(FILE *out, const mg_results *results, const char *html_path, int width); /* all of it */

/* mg_report_json -- results.json in Gradescope's schema (score, tests[].name/score/max_score/status/output,
 * extra_data). */
mt_status mg_report_json(const char *path, const mg_results *results);

/* mg_recall -- all rows of the lab: those of `now` that ran, and for the others what mg_report_json wrote to `path`
 * earlier, or TODO with the note "not graded yet". The caller frees with mg_results_free. */
mt_status mg_recall(mg_results *all, const mg_results *now, const mg_lab *lab, const char *path);

/* mg_recall_open -- keep only the rows that were INCONCLUSIVE in what mg_report_json wrote to `path`; perhaps none. */
void mg_recall_open(mg_results *results, const char *path);

/* mg_report_html -- one self-contained page: what to do next, failures with the code they called, points of steps and
 * rows, measured rows against their bars, and what the emulator counted. */
mt_status mg_report_html(const char *path, const mg_results *results);
