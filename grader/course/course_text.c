/* course_text.c -- see course_text.h. cJSON does not keep lines: the k-th value of the tree, in the order of the text,
 * is the k-th value of the text. */
#include "course/course_text.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many values come before `item` below `at`, itself included; true when it was found. */
static bool count_before(const cJSON *at, const cJSON *item, int64_t *count)
{
    for (; at; at = at->next, ++*count)
        if (at == item)
            return true;
        else if (at->child) {
            ++*count;
            if (count_before(at->child, item, count))
                return true;
            --*count;
        }
    return false;
}

static const char *end_of_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    return p + (*p == '"');
}

/* The end of the value or key that begins at p, or of what stands between values: then *is_value is false. */
static const char *end_of_token(const char *p, bool *is_value)
{
    *is_value = false;
    if (*p == '"') {
        const char *end = end_of_string(p);
        *is_value = end[strspn(end, " \t\r\n")] != ':';
        return end;
    }
    if (strchr(" \t\r\n,:]}\xef\xbb\xbf", *p))
        return p + 1;
    *is_value = true;
    return *p == '{' || *p == '[' ? p + 1 : p + strcspn(p, " \t\r\n,:]}");
}

static int lines(const char *from, const char *to)
{
    int n = 0;
    for (; from < to && *from; from++)
        n += *from == '\n';
    return n;
}

static int line_of(const mg_course_text *t, const cJSON *item)
{
    int64_t left = 0;
    bool is_value;
    count_before(t->root, item, &left);
    for (const char *p = t->text; *p;) {
        const char *end = end_of_token(p, &is_value);
        if (is_value && left-- == 0)
            return 1 + lines(t->text, p);
        p = end;
    }
    return 1;
}

mt_status mg_course_refuse(const mg_course_text *t, const cJSON *item, const char *fmt, ...)
{
    char message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return mt_fail(MT_ERR_FORMAT, "%s:%d: %s", t->path, line_of(t, item), message);
}

/* The first byte that is not UTF-8, or a control character other than the end of a line; NULL: none. */
static const char *no_text(const char *text)
{
    char *lines_only = strdup(text), *p = lines_only;
    MT_CHECK(lines_only, "out of memory");
    while ((p = strchr(p, '\r')))
        *p = ' ';
    char *plain = mg_plain(lines_only);
    size_t same = 0;
    while (plain[same] && plain[same] == lines_only[same])
        same++;
    const char *bad = plain[same] || lines_only[same] ? text + same : NULL;
    free(plain);
    free(lines_only);
    return bad;
}

mt_status mg_course_read_text(const char *path, const char *example, char **text)
{
    size_t size = 0;
    *text = NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    errno = 0;
    ssize_t n = getdelim(text, &size, 0, file);
    int why = errno;
    bool whole = n < 0 || fgetc(file) == EOF;
    fclose(file);
    if (n < 0 && why)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(why));
    if (n < 0)
        return mt_fail(MT_ERR_FORMAT, "%s:1: the file is empty: write %s", path, example);
    if (!whole || (size_t)n != strlen(*text))
        return mt_fail(MT_ERR_FORMAT, "%s:%d: not text: it contains a byte 0", path, 1 + lines(*text, *text + n));
    const char *bad = no_text(*text);
    return !bad ? MT_OK
                : mt_fail(MT_ERR_FORMAT, "%s:%d: not text: byte 0x%02x is not UTF-8: save the file as UTF-8", path,
                          1 + lines(*text, bad), (unsigned char)*bad);
}

mt_status mg_course_text_open(mg_course_text *t, const char *path)
{
    const char *end = NULL;
    *t = (mg_course_text){ .path = path };
    mt_status status = mg_course_read_text(path, "{\"labs\": {\"01\": {}}}", &t->text);
    if (status != MT_OK)
        return status;
    t->root = cJSON_ParseWithOpts(t->text, &end, true);
    if (!t->root) {
        const char *at = end ? end : t->text;
        return mt_fail(MT_ERR_FORMAT, "%s:%d: not JSON near \"%.20s\": look for a missing comma, quote or bracket",
                       path, 1 + lines(t->text, at), at);
    }
    if (!cJSON_IsObject(t->root))
        return mg_course_refuse(t, t->root, "a course file is an object: write {\"labs\": {\"01\": {}}}");
    return MT_OK;
}

void mg_course_text_close(mg_course_text *t)
{
    cJSON_Delete(t->root);
    free(t->text);
    *t = (mg_course_text){ 0 };
}

static bool is_known(const char *key, const char *const *known, char list[200])
{
    list[0] = 0;
    for (; *known; known++) {
        if (strcmp(*known, key) == 0)
            return true;
        snprintf(list + strlen(list), 200 - strlen(list), "%s%s", list[0] ? ", " : "", *known);
    }
    return false;
}

mt_status mg_course_keys(const mg_course_text *t, const cJSON *object, const char *what, const char *const *known)
{
    char list[200];
    const cJSON *item;
    if (!cJSON_IsObject(object))
        return mg_course_refuse(t, object, "%s must be an object: { ... }", what);
    cJSON_ArrayForEach(item, object)
    {
        if (known && !is_known(item->string, known, list))
            return mg_course_refuse(t, item, "unknown key \"%.60s\" of %s: use one of %s", item->string, what, list);
        for (const cJSON *other = object->child; other != item; other = other->next)
            if (strcmp(other->string, item->string) == 0)
                return mg_course_refuse(t, item, "\"%.60s\" occurs twice in %s: keep one", item->string, what);
    }
    return MT_OK;
}

mt_status mg_course_number(const mg_course_text *t, const cJSON *object, const char *key, double low, double high,
                           double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item)
        return MT_OK;
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= low && item->valuedouble <= high))
        return mg_course_refuse(t, item, "\"%s\" must be a number from %g to %g, without quotes", key, low, high);
    *value = item->valuedouble;
    return MT_OK;
}

bool mg_course_moment(const char *text, time_t *value)
{
    struct tm tm = { 0 }, again;
    int used = 0, hours = 0, minutes = 0;
    char sign = 0;
    if (strspn(text, "0123456789") != 4 || sscanf(text, "%4d-%2d-%2dT%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                                                  &tm.tm_hour, &tm.tm_min, &used) != 5)
        return false;
    text += used;
    if (*text == ':') {
        if (sscanf(text, ":%2d%n", &tm.tm_sec, &used) != 1)
            return false;
        text += used;
    }
    if (strcmp(text, "Z") != 0 && (sscanf(text, "%c%2d:%2d%n", &sign, &hours, &minutes, &used) != 3 || text[used] ||
                                   !strchr("+-", sign) || hours < 0 || hours > 14 || minutes < 0 || minutes > 59))
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    again = tm;
    *value = timegm(&again); /* which corrects a 31st of June, or 25 o'clock: then it was not a date */
    if (tm.tm_year < 100 || again.tm_mon != tm.tm_mon || again.tm_mday != tm.tm_mday || again.tm_hour != tm.tm_hour ||
        again.tm_min != tm.tm_min || again.tm_sec != tm.tm_sec)
        return false;
    *value -= (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

mt_status mg_course_time(const mg_course_text *t, const cJSON *object, const char *key, time_t *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (item && !(cJSON_IsString(item) && mg_course_moment(item->valuestring, value)))
        return mg_course_refuse(t, item, "\"%s\" must be a date, a time and its zone: \"2026-10-05T23:59+02:00\"", key);
    return MT_OK;
}
