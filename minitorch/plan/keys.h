/* keys.h -- a JSON object as a struct, by a table of its keys. What is not in the table is refused, with words that
 * name the key and what may be written.
 *
 *     static const mt_key keys[] = {
 *         MT_KEY_POSITIVE(link, "gb_s", speed, 1e9, 1e6),                // 1e9: the unit; 1e6: the most, before it
 *         MT_KEY_TEXT(link, "to", to, true),                             // true: it may not be left out
 *         { 0 },
 *     };
 *     mt_status status = mt_keys_read(&link, keys, item, "cluster.json: \"links\"[2]"); */
#pragma once

#include <cjson/cJSON.h>
#include <stddef.h>

#include "core/base.h"

MT_C_BEGIN

typedef enum mt_key_kind {
    MT_KEY_IS_NUMBER, /* double, times the unit */
    MT_KEY_IS_WHOLE,  /* int64_t */
    MT_KEY_IS_TEXT,   /* const char *, lent by the JSON: 1 to 64 printable characters of ASCII */
    MT_KEY_IS_CHOICE, /* int64_t: the index of a text in a list */
    MT_KEY_IS_ANY,    /* const cJSON *, lent: for the caller to read */
} mt_key_kind;

typedef struct mt_key {
    const char *name; /* NULL ends a table */
    size_t at;        /* offset of the field in the struct */
    mt_key_kind kind;
    bool needed; /* else a key that is left out leaves its field as it is */
    bool above;  /* low itself is refused */
    double low, high, unit;
    const char *const *choice; /* ended by NULL */
} mt_key;

#define MT_KEY_POSITIVE(type, name, field, unit, high) \
    { name, offsetof(type, field), MT_KEY_IS_NUMBER, false, true, 0, high, unit, NULL }
#define MT_KEY_RANGE(type, name, field, unit, low, high) \
    { name, offsetof(type, field), MT_KEY_IS_NUMBER, false, false, low, high, unit, NULL }
#define MT_KEY_WHOLE(type, name, field, low, high, needed) \
    { name, offsetof(type, field), MT_KEY_IS_WHOLE, needed, false, low, high, 1, NULL }
#define MT_KEY_TEXT(type, name, field, needed) \
    { name, offsetof(type, field), MT_KEY_IS_TEXT, needed, false, 0, 0, 0, NULL }
#define MT_KEY_CHOICE(type, name, field, list) \
    { name, offsetof(type, field), MT_KEY_IS_CHOICE, false, false, 0, 0, 0, list }
#define MT_KEY_ANY(type, name, field, needed) \
    { name, offsetof(type, field), MT_KEY_IS_ANY, needed, false, 0, 0, 0, NULL }

/* mt_keys_read -- where: the file and the place in it, for messages. MT_ERR_ARGUMENT, *out partly changed: no object; a
 * key twice, or one that the table has not; one that is missing; a value of another kind, or out of its bounds. */
mt_status mt_keys_read(void *out, const mt_key *keys, const cJSON *object, const char *where);

/* mt_keys_parse -- the text of a file; cJSON_Delete *out. MT_ERR_ARGUMENT, with the line: it is not JSON.
 * mt_keys_open -- a file of at most 1 MiB; free *text too, which ends with 0. Also fails as mt_file_read does. */
mt_status mt_keys_parse(cJSON **out, const char *text, const char *where);
mt_status mt_keys_open(cJSON **out, char **text, const char *path);

MT_C_END
