/* json.c -- JSON of any writer, see manifest.h; in a file of its own, as workers are linked without libcjson.
 *
 * libcjson reads more than JSON: 02, 2., control characters in strings and between values, bytes that are not UTF-8.
 * So the text is checked against the grammar first, of RFC 8259. */
#include "ckpt/manifest.h"
#include "text/utf8.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 128 }; /* of arrays and objects in another; also that of Hugging Face's reader */

typedef struct reader {
    const uint8_t *at, *end;
} reader;

/* ---- the grammar: each function passes over what it names ------------------------------------------------- */

static bool sign(reader *r, const char *any)
{
    bool is = r->at < r->end && *r->at && strchr(any, *r->at);
    r->at += is;
    return is;
}

static void blanks(reader *r)
{
    while (sign(r, " \t\r\n"))
        ;
}

static bool digits(reader *r)
{
    bool any = false;
    while (sign(r, "0123456789"))
        any = true;
    return any;
}

static bool number(reader *r)
{
    sign(r, "-");
    if (!sign(r, "0") && !digits(r))
        return false;
    if (sign(r, ".") && !digits(r))
        return false;
    if (!sign(r, "eE"))
        return true;
    sign(r, "+-");
    return digits(r);
}

/* Four hexadecimal digits; -1: they are not there. */
static int unit(reader *r)
{
    int code = 0;
    for (int i = 0; i < 4; i++) {
        static const char hex[] = "0123456789abcdefABCDEF";
        const char *at = r->at < r->end && *r->at ? strchr(hex, *r->at) : NULL;
        if (!at)
            return -1;
        code = 16 * code + (int)(at - hex) - (at - hex > 15 ? 6 : 0);
        r->at++;
    }
    return code;
}

/* After a backslash. Characters above 0xffff are two units, none of them stands alone. A zero byte would end a name. */
static bool escape(reader *r)
{
    if (sign(r, "\"\\/bfnrt"))
        return true;
    if (!sign(r, "u"))
        return false;
    int first = unit(r);
    if (first < 0xd800 || first > 0xdfff)
        return first > 0;
    if (first >= 0xdc00 || !sign(r, "\\") || !sign(r, "u"))
        return false;
    int second = unit(r);
    return second >= 0xdc00 && second <= 0xdfff;
}

static bool string(reader *r)
{
    if (!sign(r, "\""))
        return false;
    while (!sign(r, "\"")) {
        int64_t length;
        if (r->at == r->end || *r->at < 0x20 || mt_utf8_next(r->at, r->end - r->at, &length) < 0)
            return false;
        bool escaped = *r->at == '\\';
        r->at += length;
        if (escaped && !escape(r))
            return false;
    }
    return true;
}

static bool word(reader *r, const char *text)
{
    size_t n = strlen(text);
    bool is = (size_t)(r->end - r->at) >= n && memcmp(r->at, text, n) == 0;
    r->at += is ? n : 0;
    return is;
}

static bool value(reader *r, int depth);

/* What stands between the brackets of an object, or of an array, and the closing one. */
static bool members(reader *r, bool object, int depth)
{
    const char *close = object ? "}" : "]";
    blanks(r);
    if (sign(r, close))
        return true;
    do {
        blanks(r);
        if (object) {
            if (!string(r))
                return false;
            blanks(r);
            if (!sign(r, ":"))
                return false;
            blanks(r);
        }
        if (!value(r, depth))
            return false;
        blanks(r);
    } while (sign(r, ","));
    return sign(r, close);
}

static bool value(reader *r, int depth)
{
    switch (r->at < r->end ? *r->at : 0) {
    case '{':
    case '[':
        r->at++;
        return depth < DEPTH && members(r, r->at[-1] == '{', depth + 1);
    case '"':
        return string(r);
    case 't':
        return word(r, "true");
    case 'f':
        return word(r, "false");
    case 'n':
        return word(r, "null");
    default:
        return number(r);
    }
}

/* ---- what libcjson makes of it ------------------------------------------------------------------------------ */

struct cJSON *mt_json_parse(const char *text, int64_t size)
{
    reader r = { (const uint8_t *)text, (const uint8_t *)text + size };
    if (!value(&r, 0))
        return NULL;
    blanks(&r);
    return r.at == r.end ? cJSON_ParseWithLength(text, (size_t)size) : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

const char *mt_json_twice(const struct cJSON *json)
{
    int64_t count = 0;
    const char *twice = NULL;
    for (const cJSON *item = json->child; item && !twice; item = item->next, count++)
        twice = mt_json_twice(item);
    if (twice || !cJSON_IsObject(json))
        return twice;
    const cJSON **member = mt_realloc(NULL, count + 1, sizeof *member);
    count = 0;
    for (const cJSON *item = json->child; item; item = item->next)
        member[count++] = item;
    qsort(member, (size_t)count, sizeof *member, by_name);
    for (int64_t i = 1; i < count && !twice; i++)
        if (by_name(&member[i - 1], &member[i]) == 0)
            twice = member[i]->string;
    free(member);
    return twice;
}

int64_t mt_json_whole(const struct cJSON *item)
{
    double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
    return number >= 0 && number < 9007199254740992.0 && number == (double)(int64_t)number ? (int64_t)number : -1;
}
