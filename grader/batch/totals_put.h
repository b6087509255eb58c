/* totals_put.h -- the table of all grades, and its two forms. */
#pragma once

#include "pupils.h"

enum { MG_TOTAL_LABS = 32 };

/* A student: a cell for each lab; NULL where there is neither a submission nor points. */
typedef struct mg_total {
    char name[128], id[64], email[128], team[64];
    int64_t member; /* in students.csv; -1: not named there */
    const mg_pupil *cell[MG_TOTAL_LABS];
    bool due[MG_TOTAL_LABS];    /* the student's due date has passed: not handed in means 0 points */
    bool counts[MG_TOTAL_LABS]; /* in the total */
    double points, max, days;   /* days: late, of all labs */
    int open;                   /* labs whose points are not final */
    int64_t rank;               /* 0: none, while a lab is open */
} mg_total;

typedef struct mg_table {
    const char *title;
    const mg_lab *lab[MG_TOTAL_LABS];
    const mg_course_lab *course_lab[MG_TOTAL_LABS]; /* NULL: no course file */
    double max[MG_TOTAL_LABS];
    int labs, best_of;
    mg_total *total;
    int64_t count;
} mg_table;

/* mg_total_open -- whether the points of a lab are not final: there is a submission without a grade, or with rows that
 * are INCONCLUSIVE or REVIEW. */
bool mg_total_open(const mg_pupil *cell);

/* mg_total_share -- the total in per cent of the points of the labs that count. */
double mg_total_share(const mg_total *total);

mt_status mg_totals_csv(const mg_table *table, const char *path);
mt_status mg_totals_html(const mg_table *table, const char *path);
