/* result.h -- the value of a trial: from the metrics.csv that it writes, or else from the last line of its output. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_trial_value {
    bool found, diverged; /* diverged: a row has a value that is not finite */
    double value;         /* of the last row */
    int64_t rows;
} mt_trial_value;

/* mt_trial_metrics -- from the column `metric` of a CSV file; its last line is ignored while it is incomplete. Nothing
 * found: no such file or column, or no row. */
mt_trial_value mt_trial_metrics(const char *path, const char *metric);

/* mt_trial_says -- does a line of a log contain this text? */
bool mt_trial_says(const char *path, const char *text);

/* mt_trial_output -- from the last `metric=NUMBER` of a log. */
mt_trial_value mt_trial_output(const char *path, const char *metric);

MT_C_END
