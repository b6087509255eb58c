/* export.h -- the grades of a lab as CSV, for a learning management system. */
#pragma once

#include "book.h"
#include "course/students.h"

typedef struct mg_exported {
    int64_t students;      /* lines in the file */
    int64_t open, refused; /* students without a grade: it is still to come, or there is nothing to grade */
} mg_exported;

/* mg_export -- write the grade of every student, from the last grading of each submission, to `path`. With a
 * course a late submission keeps its share (where the export says when it was handed in), and of several the best or
 * the last counts, as the course says; without (NULL) the best. What students.csv says about the lab is added.
 * `format`: "canvas", "moodle", "gradescope", as those systems import grades; "csv": with the points of every step. A
 * submission without a grade (refused, not finished, an error of the grader) has an empty cell. */
mt_status mg_export(mg_book *book, const mg_lab *lab, const mg_course_lab *course, const mg_students *students,
                    const char *format, const char *path, mg_exported *counts);
