/* result.c -- see result.h. */
#include "search/result.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Field number `column` of a line, without the line's end; NULL: it has fewer. */
static const char *field(const char *line, int64_t column, size_t *length)
{
    for (; column > 0; column--) {
        line += strcspn(line, ",\r\n");
        if (*line++ != ',')
            return NULL;
    }
    *length = strcspn(line, ",\r\n");
    return line;
}

static int64_t column_of(const char *header, const char *metric)
{
    size_t length;
    const char *name;
    for (int64_t i = 0; (name = field(header, i, &length)); i++)
        if (length == strlen(metric) && strncmp(name, metric, length) == 0)
            return i;
    return -1;
}

mt_trial_value mt_trial_metrics(const char *path, const char *metric)
{
    mt_trial_value v = { 0 };
    char *line = NULL, *end;
    size_t room = 0, length;
    FILE *file = fopen(path, "re");
    int64_t column = file && getline(&line, &room, file) > 0 ? column_of(line, metric) : -1;
    while (column >= 0 && getline(&line, &room, file) > 0 && strchr(line, '\n')) {
        const char *text = field(line, column, &length);
        double value = text ? strtod(text, &end) : 0;
        if (!text || end == text) /* a row without this value */
            continue;
        v.diverged |= !isfinite(value);
        v.found = true;
        v.value = value;
        v.rows++;
    }
    free(line);
    if (file)
        fclose(file);
    return v;
}

mt_trial_value mt_trial_output(const char *path, const char *metric)
{
    mt_trial_value v = { 0 };
    char *line = NULL, *end;
    size_t room = 0, length = strlen(metric);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        for (const char *at = line; (at = strstr(at, metric)); at += length) {
            bool whole = at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
            double value = whole && at[length] == '=' ? strtod(at + length + 1, &end) : 0;
            if (!whole || at[length] != '=' || end == at + length + 1)
                continue;
            v = (mt_trial_value){ .found = true, .diverged = !isfinite(value), .value = value, .rows = 1 };
        }
    free(line);
    if (file)
        fclose(file);
    return v;
}

bool mt_trial_says(const char *path, const char *text)
{
    char *line = NULL;
    size_t room = 0;
    bool says = false;
    FILE *file = fopen(path, "re");
    while (file && !says && getline(&line, &room, file) > 0)
        says = strstr(line, text);
    free(line);
    if (file)
        fclose(file);
    return says;
}
