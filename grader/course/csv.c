/* csv.c -- see csv.h. Cells are cut out of the text in place. */
#include "course/csv.h"
#include "course/course_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mt_status mg_csv_open(mg_csv *csv, const char *path)
{
    *csv = (mg_csv){ .path = path, .next = 1 };
    csv->status = mg_course_read_text(path, "the names of its columns", &csv->text);
    if (csv->status != MT_OK)
        return csv->status;
    csv->at = csv->text + (strncmp(csv->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    size_t word = strcspn(csv->at, ",;\r\n"); /* names of columns have neither */
    csv->separator = csv->at[word] == ';' ? ';' : ',';
    return MT_OK;
}

void mg_csv_close(mg_csv *csv)
{
    free(csv->text);
    *csv = (mg_csv){ 0 };
}

mt_status mg_csv_refuse(mg_csv *csv, const char *fmt, ...)
{
    char message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return csv->status = mt_fail(MT_ERR_FORMAT, "%s:%d: %s", csv->path, csv->line, message);
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1]))
        text[--length] = 0;
    return text;
}

/* Take the quotes off the cell that begins at `from`; its end, or NULL when the quote is not closed. */
static char *unquote(mg_csv *csv, char *from)
{
    char *to = from++;
    for (; *from && !(from[0] == '"' && from[1] != '"'); from++) {
        from += *from == '"';
        csv->next += *from == '\n';
        *to++ = *from;
    }
    char *end = *from ? from + 1 : NULL;
    *to = 0;
    return end;
}

bool mg_csv_next(mg_csv *csv)
{
    csv->cells = 0;
    for (; csv->status == MT_OK && (*csv->at == '\n' || *csv->at == '\r'); csv->at++)
        csv->next += *csv->at == '\n';
    if (csv->status != MT_OK || !*csv->at)
        return false;
    csv->line = csv->next;
    for (char last = csv->separator; last == csv->separator;) {
        char *cell = csv->at, *end = *cell == '"' ? unquote(csv, cell) : cell;
        if (!end)
            return mg_csv_refuse(csv, "a quote is not closed: put a \" behind the cell"), false;
        end += strcspn(end, (char[]){ csv->separator, '\r', '\n', 0 });
        last = *end;
        csv->at = end + (last != 0);
        csv->next += last == '\n'; /* that of CRLF comes with the next line */
        *end = 0;
        if (csv->cells == MG_CELLS)
            return mg_csv_refuse(csv, "more than %d cells: leave some columns out", MG_CELLS), false;
        csv->cell[csv->cells++] = trim(cell);
    }
    return true;
}
