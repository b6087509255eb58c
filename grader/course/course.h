/* course.h -- reads course.json: what a course makes of the labs (docs/INSTRUCTORS.md describes the file). */
#pragma once

#include "labinfo.h"
#include "report/results.h"

#include <time.h>

typedef enum mg_visibility { MG_ALWAYS, MG_AFTER_DUE, MG_NEVER } mg_visibility;

/* What a submission after the due date loses. */
typedef struct mg_late {
    double percent_per_day; /* of the points, for each day begun */
    double days;            /* later than this: no points */
    double grace_minutes;   /* not counted as late */
} mg_late;

typedef struct mg_course_row {
    char step[16], name[96]; /* as in mg_row */
    double points;           /* its maximum in this course */
    mg_visibility visibility;
} mg_course_row;

/* In place of a bar of lab.json: credit begins at `low`, and is all at `full`. */
typedef struct mg_course_bar {
    char name[96]; /* as in lab.json */
    double low, full;
} mg_course_bar;

/* What a person grades in a lab, "log": its points come from students.csv (students.h). */
typedef struct mg_course_part {
    char name[24];
    double points;
} mg_course_part;

enum { MG_COURSE_PARTS = 8 };

typedef struct mg_course_lab {
    const mg_lab *lab;
    time_t due;   /* seconds since 1970; 0: none */
    time_t after; /* the reference's objects are handed out then; 0: with the release */
    mg_late late;
    bool last;           /* of several submissions the last one counts; else the best one */
    uint64_t seed;       /* of the inputs; 0: fresh in each grade */
    mg_course_row *rows; /* all rows of the lab, in the order of its checks */
    int64_t count;
    double points;       /* of all rows */
    mg_course_bar *bars; /* those that the course sets itself */
    int64_t bar_count;
    mg_course_part part[MG_COURSE_PARTS];
    int parts;
} mg_course_lab;

typedef struct mg_course {
    char title[128];
    mg_course_lab *labs; /* those that the file names, in the order of their numbers */
    int64_t count;
    const char *models; /* what language models may do: "tutor", "closed", "open" (grader/release/agents) */
    const char *checks; /* the form of the checks in a release: "objects", "source" */
    int best_of;        /* number of a student's labs that count, the best ones; 0: all */
} mg_course;

/* mg_course_read -- read a course file about the labs of the repository `root`. A value that is not valid is refused:
 * "course.json:12: ..." and what to write. The caller frees with mg_course_free; after a failure there is nothing to
 * free. */
mt_status mg_course_read(mg_course *course, const char *path, const char *root);
void mg_course_free(mg_course *course);

/* mg_course_free_lab -- what one lab of a course owns. */
void mg_course_free_lab(mg_course_lab *lab);

/* mg_course_find -- the course's entry for a lab; NULL when the course does not have that lab. */
const mg_course_lab *mg_course_find(const mg_course *course, const mg_lab *lab);

/* mg_course_share -- which share of its points a submission keeps: 1 in time (or without a due date), then less, at
 * last 0. A resubmission is judged by its own time. */
double mg_course_share(const mg_course_lab *lab, time_t submitted);

/* mg_course_late -- number of days that have begun since the due date, if the grace is over; 0: in time, or no due
 * date. */
double mg_course_late(const mg_course_lab *lab, time_t submitted);

/* mg_course_means -- whether `key` means this row: its step, "01.4", or the step and its name, "01.5 packed: large". */
bool mg_course_means(const char *key, const mg_course_row *row);

/* mg_course_apply -- give rows that have not run the course's points, and mark those hidden at the time `now`.
 * Without a course (NULL) nothing changes. mg_grade does it for `results->course`. */
void mg_course_apply(mg_results *results, const mg_course_lab *lab, time_t now);

/* mg_course_set_bars -- put the course's bars in place of those of lab.json. NULL, no course: nothing changes. */
void mg_course_set_bars(mg_labinfo *info, const mg_course_lab *lab);

/* mg_course_for_students -- write the file that a release contains: without seeds, and without the rows that are not
 * always visible (the others keep their points). */
mt_status mg_course_for_students(const mg_course *course, const char *path);
