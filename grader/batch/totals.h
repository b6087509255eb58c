/* totals.h -- the labs of a course added up: for every student points, late days, total and rank. */
#pragma once

#include "book.h"
#include "course/students.h"

/* mg_totals -- write OUT/grades.csv and OUT/grades.html from the gradebook in OUT: all students of students.csv, and
 * those who have handed something in. A lab that nobody has a submission or points of is left out; without a course
 * file (no labs) all labs of the book count. Prints what is still open. */
mt_status mg_totals(mg_book *book, const mg_course *course, const mg_students *students, const char *out);
