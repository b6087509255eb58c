/* course_bars.h -- "bars" of a lab in course.json: where the credit of a measured row begins, and where it is full. */
#pragma once

#include "course/course.h"
#include "course/course_text.h"

/* mg_course_read_bars -- read them into lab->bars. A bar is named as in lab.json of `root`, or by its row where the bar
 * has the name of the whole step. Refused: a name that the lab does not have; a bar that turns "more is better" into
 * "less is better"; a `full` that the reference itself does not reach. */
mt_status mg_course_read_bars(const mg_course_text *t, const cJSON *json, const char *root, mg_course_lab *lab);
