/* json.h -- JSON files: reports (results_json.c), lab.json, the course file of students. */
#pragma once

#include "core/base.h"

#include <cjson/cJSON.h>

/* mg_json_read -- NULL when the file cannot be read or is not JSON. cJSON_Delete frees it. */
cJSON *mg_json_read(const char *path);

/* mg_json_write -- write a file as mg_write does, and free the tree. */
mt_status mg_json_write(cJSON *root, const char *path);

/* A string or number of an object; "" and NaN when it has none of that name, or when object is NULL. */
const char *mg_json_string(const cJSON *object, const char *key);
double mg_json_number(const cJSON *object, const char *key);

/* mg_json_verdict -- of a row in a report: "PASS", ...; "" when it has none. */
const char *mg_json_verdict(const cJSON *test);

/* mg_json_add_number -- nothing for a number that is not finite, which JSON does not have. */
void mg_json_add_number(cJSON *object, const char *key, double value);
