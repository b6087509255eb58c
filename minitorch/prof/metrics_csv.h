/* metrics_csv.h -- a run's numbers as a CSV file that is complete at any time: after every row, and after a failed
 * one. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_metrics mt_metrics; /* opaque */

/* mt_metrics_open -- a new file (an older one of that name is replaced) with the line of column names. */
mt_status mt_metrics_open(mt_metrics **out, const char *path, const char *header);

/* mt_metrics_resume -- continue an older file, keeping its line of names and its first `rows` rows: what a run wrote
 * after the checkpoint it resumes from is dropped. MT_ERR_FORMAT, and the file unchanged, when it has fewer rows, or
 * other names. */
mt_status mt_metrics_resume(mt_metrics **out, const char *path, const char *header, int64_t rows);

/* mt_metrics_written -- whether a process still has this file open by one of the functions above. */
bool mt_metrics_written(int fd);

void mt_metrics_close(mt_metrics *metrics); /* NULL is allowed */

/* mt_metrics_row -- one line, given without its newline, written immediately. When the disk is full, the file ends with
 * the previous row. */
mt_status mt_metrics_row(mt_metrics *metrics, const char *fmt, ...) MT_PRINTF(2, 3);

MT_C_END
