/* command.h -- what the commands grade and grade_all have in common. */
#pragma once

#include "course/students.h"

#include <argp.h>

/* mg_command_seed -- the value of --seed; ends the program with words when it is not a hexadecimal number. */
uint64_t mg_command_seed(struct argp_state *state, const char *text);

/* mg_command_interrupt -- Ctrl-C and SIGTERM set mg_stop; a second one ends the program. A file that
 * grows beyond the system's limit on its size is an error of the write, not the end. */
void mg_command_interrupt(void);

/* mg_command_course -- the course's entry for a lab, of `file`, or of ROOT/course.json when that is NULL. *found is
 * NULL without a course, for the file "none", and without a lab (NULL). The caller frees with mg_course_free, also
 * after a failure. */
mt_status mg_command_course(mg_course *course, const mg_course_lab **found, const char *file, const char *root,
                            const mg_lab *lab);

/* mg_command_students -- students.csv beside the course file that mg_command_course took; nobody without a course. */
mt_status mg_command_students(mg_students *students, const mg_course *course, const char *file, const char *root);
