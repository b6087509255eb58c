/* progress.h -- one line on stderr with the progress of a long loop: a bar, the rate, the time left.
 * After its first steps a loop that takes a minute or more says how long it will take in all.
 *
 * On a terminal the line is redrawn ten times a second. Elsewhere (a log, a pipe) a plain line is printed every ten
 * seconds, so that short runs print nothing. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef enum mt_progress_mode { MT_PROGRESS_OFF, MT_PROGRESS_LINES, MT_PROGRESS_BAR } mt_progress_mode;

typedef struct mt_progress {
    mt_progress_mode mode;
    const char *unit;     /* of total: "samples"; lent */
    int64_t total;        /* of the whole loop, > 0 */
    double started, next; /* mt_now() at the start, and when to show the next line */
    bool told;            /* how long it will take in all */
} mt_progress;

/* mt_progress_begin -- in the mode that fits stderr; assign mode = MT_PROGRESS_OFF for silence. */
mt_progress mt_progress_begin(const char *unit, int64_t total);

/* mt_progress_show -- `done` of the total so far, with this text in front. Cheap: most calls only read the clock. What
 * was printed before reaches standard output first, so that a log is in order and up to date. */
void mt_progress_show(mt_progress *progress, int64_t done, const char *fmt, ...) MT_PRINTF(3, 4);

/* mt_progress_clear -- erase the line, before something else is printed or at the end. */
void mt_progress_clear(const mt_progress *progress);

/* mt_progress_duration -- "45 s", "12 min", "3 h 20 min", "2 d 4 h"; text is returned. */
const char *mt_progress_duration(char text[32], double seconds);

/* mt_progress_text -- the line itself, for done after `seconds`, cut to size bytes. */
void mt_progress_text(char *text, int64_t size, const mt_progress *progress, int64_t done, double seconds);

MT_C_END
