/* progress.h -- what a batch says while it runs: a line for each submission, and how long the rest will take. */
#pragma once

#include "book.h"

typedef struct mg_progress {
    double began, phase; /* seconds */
    int64_t total;       /* submissions of this phase */
    int64_t done, skipped, worked;
    int64_t refused, broken;
    bool timing, shown;
} mg_progress;

void mg_progress_begin(mg_progress *p, int64_t submissions);
/* Now the timed rows of so many; engine: the name of what shares them out, or NULL. */
void mg_progress_timed(mg_progress *p, int64_t submissions, const char *engine);
void mg_progress_skip(mg_progress *p); /* one that is in the book already */
void mg_progress_done(mg_progress *p, const mg_handin *handin, const mg_grading *grading);
void mg_progress_tick(mg_progress *p); /* once a second */
void mg_progress_say(mg_progress *p, const char *fmt, ...) MT_PRINTF(2, 3);
/* The class as it is now: its open rows, and what is not finished. */
mt_status mg_progress_end(mg_progress *p, mg_book *book, const char *lab, const char *folder, int64_t left,
                          int64_t other_version);
/* Says how many rows are open, INCONCLUSIVE or REVIEW, and what can be done; prints nothing when there are none. */
mt_status mg_progress_open(mg_book *book, const char *lab, const char *folder);
