/* regrade.h -- what is graded again on request: a proposal, which is shown row by row, and counts when it is accepted.
 *
 * A proposal is a submission of its own in the gradebook, whose lab is called "again 01-matmul": nothing that reads the
 * grades of a lab sees it, and its report has a folder of its own. */
#pragma once

#include "jobs.h"

/* mg_regrade_place -- the submission that holds the proposal for another one. */
mt_status mg_regrade_place(mg_book *book, const char *lab, const char *folder, const char *key, int64_t *id);

/* mg_regrade_show -- if there are proposals, print each row that they change, and write all to OUT/NN-regrade.csv. */
mt_status mg_regrade_show(mg_book *book, const mg_plan *plan);

/* mg_regrade_end -- accept: the proposals become the last gradings of their submissions, with their reports; else they
 * are forgotten. After a kill the same call ends what was begun. */
mt_status mg_regrade_end(mg_book *book, const mg_plan *plan, bool accept);
