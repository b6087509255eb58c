/* json.c -- JSON of any writer, see manifest.h; in a file of its own, as workers are linked without libcjson. */
#include "ckpt/manifest.h"

#include <cjson/cJSON.h>
#include <string.h>

struct cJSON *mt_json_parse(const char *text, int64_t size)
{
    const char *end = text;
    if (size == 0 || memchr(text, 0, (size_t)size) || memmem(text, (size_t)size, "\\u0000", 6))
        return NULL;
    cJSON *json = cJSON_ParseWithLengthOpts(text, (size_t)size, &end, false);
    while (json && end < text + size && strchr(" \t\r\n", *end))
        end++;
    if (json && end == text + size)
        return json;
    cJSON_Delete(json);
    return NULL;
}

int64_t mt_json_whole(const struct cJSON *item)
{
    double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
    return value >= 0 && value <= 9007199254740992.0 && value == (double)(int64_t)value ? (int64_t)value : -1;
}
