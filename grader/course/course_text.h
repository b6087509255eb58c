/* course_text.h -- a JSON file, and the lines of its values: a refusal names the line. */
#pragma once

#include "core/base.h"

#include <cjson/cJSON.h>
#include <time.h>

typedef struct mg_course_text {
    const char *path;
    char *text;
    cJSON *root;
} mg_course_text;

/* mg_course_read_text -- a file of UTF-8, for the caller to free, also after a failure. One that is empty is refused,
 * with an example of its first line. */
mt_status mg_course_read_text(const char *path, const char *example, char **text);

/* mg_course_text_open -- read and parse; refuses what is not one JSON object. The caller closes it, also on failure. */
mt_status mg_course_text_open(mg_course_text *t, const char *path);
void mg_course_text_close(mg_course_text *t);

/* mg_course_refuse -- MT_ERR_FORMAT with "path:line: " and the message; the line of `item`. */
mt_status mg_course_refuse(const mg_course_text *t, const cJSON *item, const char *fmt, ...) MT_PRINTF(3, 4);

/* mg_course_keys -- refuse a value that is not an object, a key that is not among `known` (ended by NULL), and a key
 * that occurs twice. `what` names the object in the message. known NULL: any key, each once. */
mt_status mg_course_keys(const mg_course_text *t, const cJSON *object, const char *what, const char *const *known);

/* mg_course_number -- a number of low .. high; without the key *value stays. */
mt_status mg_course_number(const mg_course_text *t, const cJSON *object, const char *key, double low, double high,
                           double *value);

/* mg_course_moment -- "2026-10-05T23:59+02:00", with seconds or not, Z for +00:00; false: not a date.
 * mg_course_time -- such a value of an object; without the key *value stays. */
bool mg_course_moment(const char *text, time_t *value);
mt_status mg_course_time(const mg_course_text *t, const cJSON *object, const char *key, time_t *value);
