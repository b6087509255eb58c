/* pupils.h -- the grades of a lab by student: of several submissions the one that counts, with what its time and
 * students.csv make of it. */
#pragma once

#include "book.h"
#include "course/students.h"

typedef struct mg_pupil {
    char name[128], id[64], email[128], key[512], system[16], state[16], message[512];
    char notes[600]; /* from students.csv */
    int64_t member;  /* in students.csv; -1: not named there */
    int64_t submission, grading, handed_in, graded_at;
    bool graded;  /* points and max are known */
    bool late;    /* the export says so */
    bool excused; /* students.csv says so; not graded then */
    bool lent;    /* the submission of another member of the team */
    int64_t open; /* rows that are INCONCLUSIVE or REVIEW, and not accepted */
    double share; /* of the grader's points that a late submission keeps */
    double days;  /* that it was late */
    double points, max;
} mg_pupil;

typedef struct mg_pupils {
    mg_pupil *pupil;
    int64_t count;
} mg_pupils;

/* mg_pupils_read -- the students who have a submission of a lab in the book, their own or their team's, by name; and
 * those of whom students.csv says something about the lab, without a submission (state "none"). Without a course
 * (NULL) points are the grader's. The caller frees, also after a failure. */
mt_status mg_pupils_read(mg_pupils *pupils, mg_book *book, const mg_lab *lab, const mg_course_lab *course,
                         const mg_students *students);
void mg_pupils_free(mg_pupils *pupils);

/* mg_put_cell -- a cell of a CSV file, quoted where it must be. One that a spreadsheet would take for a formula begins
 * with '. mg_put_cells -- several, with commas between them. */
void mg_put_cell(FILE *out, const char *text);
void mg_put_cells(FILE *out, const char *const text[], int count);
