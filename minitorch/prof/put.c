/* put.c -- escaping for JSON, XML and terminals, over one reader of UTF-8. */
#include "prof/put.h"
#include "text/utf8.h"

#include <inttypes.h>
#include <math.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* The character at text[0] and its bytes; -1: a byte that is not UTF-8. Reads no byte behind the final 0. */
static int32_t char_at(const char *text, int64_t *bytes)
{
    return mt_utf8_next((const uint8_t *)text, 4, bytes);
}

static void put_char(FILE *out, const char *text, int64_t bytes, bool good)
{
    if (good)
        fwrite(text, 1, (size_t)bytes, out);
    else
        fputs(REPLACEMENT, out);
}

void mt_put_json(FILE *out, const char *text)
{
    for (int64_t bytes; *text; text += bytes) {
        int32_t c = char_at(text, &bytes);
        if ((c >= 0 && c < 0x20) || c == 0x7F)
            fprintf(out, "\\u%04" PRIx32, (uint32_t)c);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", (int)c);
        else
            put_char(out, text, bytes, c >= 0);
    }
}

/* Whether a terminal or XML shows it: no control character, nor -1. */
static bool is_shown(int32_t c)
{
    return c >= 0x20 && (c < 0x7F || c >= 0xA0);
}

void mt_put_xml(FILE *out, const char *text)
{
    for (int64_t bytes; *text; text += bytes) {
        int32_t c = char_at(text, &bytes);
        if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
            fprintf(out, "&#%d;", (int)c);
        else
            put_char(out, text, bytes, is_shown(c) && c != 0xFFFE && c != 0xFFFF);
    }
}

int64_t mt_text_width(const char *text)
{
    int64_t width = 0;
    for (int64_t bytes; *text; text += bytes, width++)
        char_at(text, &bytes);
    return width;
}

void mt_put_column(FILE *out, const char *text, int64_t width)
{
    for (int64_t bytes; *text; text += bytes, width--) {
        int32_t c = char_at(text, &bytes);
        put_char(out, text, bytes, is_shown(c));
    }
    for (; width > 0; width--)
        fputc(' ', out);
}

void mt_put_fixed(FILE *out, double value, int decimals)
{
    int64_t one = 1;
    for (int i = 0; i < decimals; i++)
        one *= 10;
    int64_t parts = isnan(value) ? 0 : llround(fabs(value) * (double)one);
    fprintf(out, "%s%" PRId64, value < 0 && parts > 0 ? "-" : "", parts / one);
    if (decimals > 0)
        fprintf(out, ".%0*" PRId64, decimals, parts % one);
}
