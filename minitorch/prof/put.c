/* put.c -- escaping for JSON, XML and terminals, over one reader of UTF-8. */
#include "prof/put.h"
#include "core/utf8.h"

#include <inttypes.h>
#include <math.h>

enum { REPLACEMENT = 0xFFFD };

/* The next character of *text, which is advanced; REPLACEMENT for a byte that is not UTF-8. 0 at the end. */
static uint32_t next_char(const char **text)
{
    int64_t length;
    if (!**text)
        return 0;
    int32_t c = mt_utf8_next((const uint8_t *)*text, 4, &length); /* reads no byte behind the final 0 */
    *text += length;
    return c < 0 ? REPLACEMENT : (uint32_t)c;
}

static void put_char(FILE *out, uint32_t c)
{
    if (c < 0x80) {
        fputc((int)c, out);
        return;
    }
    if (c < 0x800) {
        fputc((int)(0xC0 | c >> 6), out);
    } else {
        if (c < 0x10000) {
            fputc((int)(0xE0 | c >> 12), out);
        } else {
            fputc((int)(0xF0 | c >> 18), out);
            fputc((int)(0x80 | (c >> 12 & 0x3F)), out);
        }
        fputc((int)(0x80 | (c >> 6 & 0x3F)), out);
    }
    fputc((int)(0x80 | (c & 0x3F)), out);
}

void mt_put_json(FILE *out, const char *text)
{
    for (uint32_t c; (c = next_char(&text)) != 0;) {
        if (c < 0x20 || c == 0x7F)
            fprintf(out, "\\u%04" PRIx32, c);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", (int)c);
        else
            put_char(out, c);
    }
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

void mt_put_xml(FILE *out, const char *text)
{
    for (uint32_t c; (c = next_char(&text)) != 0;) {
        if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
            fprintf(out, "&#%d;", (int)c);
        else
            put_char(out, is_control(c) || c == 0xFFFE || c == 0xFFFF ? REPLACEMENT : c);
    }
}

int64_t mt_text_width(const char *text)
{
    int64_t width = 0;
    while (next_char(&text) != 0)
        width++;
    return width;
}

void mt_put_column(FILE *out, const char *text, int64_t width)
{
    for (uint32_t c; (c = next_char(&text)) != 0; width--)
        put_char(out, is_control(c) ? REPLACEMENT : c);
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
