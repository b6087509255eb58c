/* dates.h -- when submissions were handed in, for exports whose files do not say it. Their system has a list, which
 * lies beside the submissions:
 *
 *     Moodle   the grading worksheet, *.csv with the columns Identifier and Last modified (submission); its times have
 *              no zone: they are of the zone of this machine (TZ)
 *     Canvas   submissions.json, what its API answers for GET .../assignments/NN/submissions?per_page=100: a list of
 *              objects with user_id, submitted_at and late
 *     Classroom 50   scores.csv, which gh teacher download writes: username, first_name, last_name, email, datetime and
 *              late, of the repositories CLASSROOM-ASSIGNMENT-USERNAME */
#pragma once

#include "layout.h"

/* mg_dates_is_list -- whether an entry of the folder is such a list, and no submission. */
bool mg_dates_is_list(const char *folder, const char *name);

/* mg_dates_read -- take times, and addresses and names where the list has them, into the submissions of the class. */
mt_status mg_dates_read(mg_class *class, const char *name);
