/* feedback.h -- what students get back: a page for each, under the names by which a service finds its students. */
#pragma once

#include "course/students.h"
#include "jobs.h"

/* mg_feedback -- make the folder OUT/NN-feedback anew, with the report of the submission that counts for each student
 * and, above it, the points that count, what lateness took, and what students.csv says. Canvas: files as "Download
 * submissions" names them, which "Upload submissions" takes; Moodle: as "Download all submissions" does, for "Upload
 * multiple feedback files in a zip"; others: a folder for each submission. *pages: so many; *left: students without a
 * place in the service, or without anything to say yet. */
mt_status mg_feedback(mg_book *book, const mg_plan *plan, const mg_course_lab *course, const mg_students *students,
                      int64_t *pages, int64_t *left);
