/* metadata.c -- line by line: an entry begins in column 0, its keys in column 2. */
#include "metadata.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A scalar without its quotes, "" for null. In '..' a quote is written twice; \ escapes of ".." are kept as they are.
 * */
static void scalar(char *to, size_t size, const char *text)
{
    while (*text == ' ')
        text++;
    char quote = *text == '\'' || *text == '"' ? *text : 0;
    size_t n = 0;
    for (text += quote != 0; *text && *text != '\n' && *text != '\r' && n + 1 < size; text++) {
        if (quote && *text == quote && *++text != quote)
            break;
        to[n++] = *text;
    }
    while (!quote && n > 0 && to[n - 1] == ' ')
        n--;
    to[n] = 0;
    if (!quote && (strcmp(to, "null") == 0 || strcmp(to, "~") == 0))
        to[0] = 0;
}

/* "2026-11-20 18:30:00.123 Z", or with "-08:00" instead of Z. */
static time_t moment(const char *text)
{
    struct tm tm = { 0 };
    int used = 0, hours = 0, minutes = 0;
    char sign = '+';
    if (sscanf(text, " %d-%d-%d%*[ T]%d:%d:%d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &tm.tm_sec, &used) != 6)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    text += used + strspn(text + used, ".0123456789 ");
    if (*text == '+' || *text == '-')
        sscanf(text, "%c%2d:%2d", &sign, &hours, &minutes);
    return timegm(&tm) - (sign == '-' ? -60 : 60) * (60 * hours + minutes);
}

/* The value behind `key`, in a list's item too; NULL: another key. */
static const char *value_of(const char *line, const char *key)
{
    line += strspn(line, " -");
    size_t n = strlen(key);
    return strncmp(line, key, n) == 0 ? line + n : NULL;
}

static void read_student(mg_listed *one, const char *line)
{
    const char *value;
    size_t indent = strspn(line, " ");
    if (line[indent] == '-' && one->students < MG_TEAM)
        one->students++;
    mg_student *s = &one->student[one->students ? one->students - 1 : 0];
    if ((value = value_of(line, ":name:")))
        scalar(s->name, sizeof s->name, value);
    else if ((value = value_of(line, ":sid:")))
        scalar(s->id, sizeof s->id, value);
    else if ((value = value_of(line, ":email:")))
        scalar(s->email, sizeof s->email, value);
}

static void read_entry(FILE *file, mg_listed *one)
{
    char *line = NULL;
    size_t size = 0;
    bool submitters = false;
    long at = ftell(file);
    for (; getline(&line, &size, file) > 0; at = ftell(file)) {
        if (isalnum((unsigned char)line[0])) { /* the next entry */
            fseek(file, at, SEEK_SET);
            break;
        }
        if (strncmp(line, "  :", 3) == 0) {
            submitters = strncmp(line, "  :submitters:", 14) == 0;
            if (strncmp(line, "  :created_at:", 14) == 0)
                one->when = moment(line + 14 + strspn(line + 14, " '\""));
        } else if (submitters) {
            read_student(one, line);
        }
    }
    free(line);
}

bool mg_metadata_next(FILE *file, mg_listed *one)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    *one = (mg_listed){ 0 };
    while (!found && getline(&line, &size, file) > 0) {
        size_t n = strcspn(line, ":");
        found = strncmp(line, "submission_", 11) == 0 && line[n] == ':' && n < sizeof one->key;
        if (found)
            snprintf(one->key, sizeof one->key, "%.*s", (int)n, line);
    }
    free(line);
    if (found)
        read_entry(file, one);
    return found;
}
