/* json.c -- see json.h. */
#include "json.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cJSON *mg_json_read(const char *path)
{
    char *text = mg_read_text(path);
    cJSON *root = text ? cJSON_Parse(text) : NULL;
    free(text);
    return root;
}

mt_status mg_json_write(cJSON *root, const char *path)
{
    char *text = cJSON_Print(root);
    MT_CHECK(text, "out of memory");
    mt_status status = mg_write(path, text, strlen(text));
    cJSON_free(text);
    cJSON_Delete(root);
    return status;
}

const char *mg_json_string(const cJSON *object, const char *key)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return value ? value : "";
}

double mg_json_number(const cJSON *object, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

const char *mg_json_verdict(const cJSON *test)
{
    return mg_json_string(cJSON_GetObjectItemCaseSensitive(test, "extra_data"), "verdict");
}

void mg_json_add_number(cJSON *object, const char *key, double value)
{
    if (isfinite(value))
        MT_CHECK(cJSON_AddNumberToObject(object, key, value), "out of memory");
}
