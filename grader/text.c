/* text.c -- safe printing of untrusted text, and files that are replaced in one step. */
#include "text.h"
#include "core/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the UTF-8 character at p and its code; 0 when there is none (RFC 3629: shortest form, no surrogates). */
static int decode(const unsigned char *p, uint32_t *code)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    int n = p[0] < 0x80 ? 1 : p[0] >= 0xf0 && p[0] < 0xf8 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
    if (n == 0 || p[0] >= 0xf8)
        return 0;
    *code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    return *code < smallest[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : n;
}

/* Control characters (C0, DEL, C1) move a terminal's cursor; U+202A.. and U+2066.. change the direction of writing. */
static bool steers(uint32_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

static const char *html_of(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* White space of any kind: what a runner leaves out before it looks at a line. */
static bool is_space(uint32_t c)
{
    return c <= ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

/* Whether a command to the runner of a CI service begins here. GitHub's are the first word of a line, which may be
 * broken before any word ("a::b" is none); its older ones, Azure's and TeamCity's may stand anywhere. GitLab's sections
 * need control characters. */
static bool commands(const char *p, bool begins_word)
{
    static const char *const anywhere[] = { "##[", "##vso[", "##teamcity[" };
    for (int i = 0; i < MT_COUNT(anywhere); i++)
        if (strncasecmp(p, anywhere[i], strlen(anywhere[i])) == 0)
            return true;
    return begins_word && p[0] == ':' && p[1] == ':';
}

void mg_put(FILE *out, const char *text, mg_escape escape)
{
    uint32_t code;
    bool begins_word = true;
    for (const char *p = text; *p;) {
        int n = decode((const unsigned char *)p, &code);
        const char *html = escape == MG_HTML && n == 1 ? html_of(*p) : NULL;
        bool command = escape == MG_PLAIN && commands(p, begins_word);
        begins_word = n > 0 && is_space(code);
        if (n == 0 || steers(code) || command)
            fputs("\xef\xbf\xbd", out);
        else if (html)
            fputs(html, out);
        else
            fwrite(p, 1, (size_t)n, out);
        p += n ? n : 1;
    }
}

char *mg_plain(const char *text)
{
    char *string = NULL;
    size_t length;
    FILE *out = open_memstream(&string, &length);
    MT_CHECK(out, "out of memory");
    mg_put(out, text, MG_PLAIN);
    MT_CHECK(fclose(out) == 0, "out of memory");
    return string;
}

int mg_width(const char *text)
{
    uint32_t code;
    int width = 0;
    for (const char *p = text; *p; width++) {
        int n = decode((const unsigned char *)p, &code);
        p += n ? n : 1;
    }
    return width;
}

char *mg_points(char buffer[32], double points)
{
    int n = snprintf(buffer, 32, "%.2f", floor(points * 100 + 1e-6) / 100);
    n = n < 32 ? n : 31;
    while (n > 0 && buffer[n - 1] == '0')
        buffer[--n] = '\0';
    if (n > 0 && buffer[n - 1] == '.')
        buffer[--n] = '\0';
    return buffer;
}

char *mg_read_text(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    if (file && getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = ferror(file) ? NULL : strdup("");
    }
    if (file)
        fclose(file);
    return text;
}

mt_status mg_write(const char *path, const char *bytes, size_t length)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    fwrite(bytes, 1, length, file.out);
    return mt_file_writer_close(&file);
}

uint64_t mg_hash(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}
