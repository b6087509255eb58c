/* keys.c -- see keys.h. */
#include "plan/keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"

enum { MOST_BYTES = 1 << 20, MOST_TEXT = 64 };

static mt_status refuse_bounds(const mt_key *key, const char *where)
{
    const char *what = key->kind == MT_KEY_IS_WHOLE ? "whole number" : "number";
    if (key->above)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\": write a %s above %.10g, of at most %.10g", where, key->name, what,
                       key->low, key->high);
    return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\": write a %s from %.10g to %.10g", where, key->name, what, key->low,
                   key->high);
}

static mt_status read_number(void *field, const mt_key *key, const cJSON *item, const char *where)
{
    double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    bool whole = key->kind == MT_KEY_IS_WHOLE;
    if (!(value <= key->high && (key->above ? value > key->low : value >= key->low)) || (whole && value != rint(value)))
        return refuse_bounds(key, where);
    if (whole)
        *(int64_t *)field = (int64_t)value;
    else
        *(double *)field = value * key->unit;
    return MT_OK;
}

static mt_status read_text(const char **field, const mt_key *key, const cJSON *item, const char *where)
{
    const char *text = cJSON_GetStringValue(item);
    size_t length = text ? strlen(text) : 0;
    for (const char *p = text; p && *p; p++)
        length = *p < ' ' || *p > '~' ? 0 : length;
    if (length < 1 || length > MOST_TEXT)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\": write a text of 1 to %d printable characters of ASCII", where,
                       key->name, MOST_TEXT);
    *field = text;
    return MT_OK;
}

static mt_status read_choice(int64_t *field, const mt_key *key, const cJSON *item, const char *where)
{
    char list[256] = "";
    const char *text = cJSON_GetStringValue(item);
    for (int64_t i = 0; key->choice[i]; i++) {
        if (text && strcmp(text, key->choice[i]) == 0) {
            *field = i;
            return MT_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? ", " : "", key->choice[i]);
    }
    return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\": write one of %s", where, key->name, list);
}

static mt_status read_key(void *out, const mt_key *key, const cJSON *item, const char *where)
{
    void *field = (char *)out + key->at;
    if (key->kind == MT_KEY_IS_TEXT)
        return read_text(field, key, item, where);
    if (key->kind == MT_KEY_IS_CHOICE)
        return read_choice(field, key, item, where);
    if (key->kind != MT_KEY_IS_ANY)
        return read_number(field, key, item, where);
    *(const cJSON **)field = item;
    return MT_OK;
}

/* A name from a file, for a message: cut, and nothing that a terminal acts on. */
static const char *shown(char out[40], const char *name)
{
    snprintf(out, 40, "%s", name);
    for (char *p = out; *p; p++)
        *p = *p < ' ' || *p > '~' ? '?' : *p;
    return out;
}

static mt_status refuse_unknown(const mt_key *keys, const char *name, const char *where)
{
    char list[512] = "", text[40];
    for (const mt_key *k = keys; k->name; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 k == keys   ? ""
                 : k[1].name ? ", "
                             : " or ",
                 k->name);
    return mt_fail(MT_ERR_ARGUMENT, "%s: there is no key \"%s\": use %s", where, shown(text, name), list);
}

mt_status mt_keys_read(void *out, const mt_key *keys, const cJSON *object, const char *where)
{
    uint64_t seen = 0;
    if (!cJSON_IsObject(object))
        return mt_fail(MT_ERR_ARGUMENT, "%s: this is not a JSON object: write { \"%s\": ... }", where, keys->name);
    for (const cJSON *item = object->child; item; item = item->next) {
        const mt_key *k = keys;
        while (k->name && strcmp(k->name, item->string) != 0)
            k++;
        if (!k->name)
            return refuse_unknown(keys, item->string, where);
        uint64_t bit = UINT64_C(1) << (k - keys);
        if (seen & bit)
            return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\" stands there twice: keep one", where, k->name);
        seen |= bit;
        mt_status status = read_key(out, k, item, where);
        if (status != MT_OK)
            return status;
    }
    for (const mt_key *k = keys; k->name; k++)
        if (k->needed && !(seen & UINT64_C(1) << (k - keys)))
            return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\" is missing", where, k->name);
    return MT_OK;
}

mt_status mt_keys_parse(cJSON **out, const char *text, const char *where)
{
    const char *end = NULL;
    char near[40];
    int64_t line = 1;
    *out = cJSON_ParseWithOpts(text, &end, true);
    if (*out)
        return MT_OK;
    end = end ? end : text;
    for (const char *p = text; p < end; p++)
        line += *p == '\n';
    return mt_fail(MT_ERR_ARGUMENT,
                   "%s:%lld: this is not JSON, near \"%.20s\": look for a missing comma, quote or "
                   "bracket",
                   where, (long long)line, shown(near, end));
}

mt_status mt_keys_open(cJSON **out, char **text, const char *path)
{
    uint8_t *bytes = NULL;
    int64_t size = 0;
    int fd;
    mt_status status = mt_file_open(&fd, &size, path);
    if (status != MT_OK)
        return status;
    mt_io_now()->close(mt_io_now(), fd);
    if (size > MOST_BYTES)
        return mt_fail(MT_ERR_ARGUMENT, "%s: it has %lld bytes, and at most %d are read", path, (long long)size,
                       MOST_BYTES);
    status = mt_file_read(&bytes, &size, path);
    if (status != MT_OK)
        return status;
    *text = realloc(bytes, (size_t)size + 1);
    MT_CHECK(*text, "out of memory");
    (*text)[size] = 0;
    status = strlen(*text) == (size_t)size
                 ? mt_keys_parse(out, *text, path)
                 : mt_fail(MT_ERR_ARGUMENT, "%s: it contains a byte 0: this is not text", path);
    if (status != MT_OK)
        free(*text), *text = NULL;
    return status;
}
