/* table.h -- sweep.csv: a row for each job that has ended, complete after each; what a sweep that goes on reads; and
 * a page that shows all jobs. */
#pragma once

#include "search/search.h"

MT_C_BEGIN

typedef enum mt_job_end { MT_END_DONE, MT_END_FAILED, MT_END_DIVERGED, MT_END_TIMEOUT } mt_job_end;

typedef struct mt_sweep_row {
    mt_job_end end;
    double value; /* of the metric, when done */
    double seconds;
} mt_sweep_row;

typedef struct mt_sweep_table {
    const mt_search *search; /* borrowed, like metric and path */
    const char *metric, *path;
    int fd;
    int64_t bytes, count; /* of the file; of lines */
    char **line;          /* by number of the job, without newline; NULL: not ended */
} mt_sweep_table;

/* mt_sweep_table_open -- a new file, or with resume one that is there: a last line that is not complete is cut off.
 * MT_ERR_FORMAT for a file of other columns or with a line that is not a row. At most `jobs` jobs. */
mt_status mt_sweep_table_open(mt_sweep_table *table, const mt_search *search, const char *metric, const char *path,
                              int64_t jobs, bool resume);
void mt_sweep_table_close(mt_sweep_table *table);

/* mt_sweep_table_find -- has job `number` a row? MT_ERR_FORMAT: it has, of a job with other settings. */
mt_status mt_sweep_table_find(const mt_sweep_table *table, int64_t number, const mt_job *job, bool *found,
                              mt_sweep_row *row);

/* mt_sweep_table_add -- append a row and sync it. When the disk is full, the file ends with the row before. */
mt_status mt_sweep_table_add(mt_sweep_table *table, int64_t number, const mt_job *job, const mt_sweep_row *row);

/* mt_sweep_table_sort -- write the file again with its rows in the order of the jobs, in one step. */
mt_status mt_sweep_table_sort(mt_sweep_table *table);

/* mt_sweep_page -- write a sweep as one HTML page without scripts to `path`: parallel coordinates, the best value so
 * far, all jobs. Values are shown times `sign` (-1: the metric was maximised); best: the
 * number of a job that is done. */
mt_status mt_sweep_page(const char *path, const mt_search *search, const char *metric, double sign, const mt_job *jobs,
                        int64_t count, int64_t best);

MT_C_END
