/* csv.h -- lines of a file of comma-separated values, as spreadsheets write them: quoted cells, also with line ends in
 * them, a byte order mark, CRLF, semicolons in place of commas. */
#pragma once

#include "core/base.h"

enum { MG_CELLS = 64 };

typedef struct mg_csv {
    const char *path;
    char *text, *at;
    char separator;
    int line, next; /* the line of the cells, and that of the next ones, from 1 */
    char *cell[MG_CELLS];
    int cells;
    mt_status status; /* after the last line: whether the file was read to its end */
} mg_csv;

/* mg_csv_open -- open a file. The caller closes it, also after a failure. */
mt_status mg_csv_open(mg_csv *csv, const char *path);
void mg_csv_close(mg_csv *csv);

/* mg_csv_next -- the cells of the next line that is not empty, without blanks around them; false after the last one. */
bool mg_csv_next(mg_csv *csv);

/* mg_csv_refuse -- MT_ERR_FORMAT with "path:line: " and the message. */
mt_status mg_csv_refuse(mg_csv *csv, const char *fmt, ...) MT_PRINTF(2, 3);
