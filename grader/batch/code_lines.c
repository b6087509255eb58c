/* code_lines.c -- see code_lines.h. */
#include "code_lines.h"
#include "text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The end of a comment, a string or a character that begins at p; p itself for anything else. */
static const char *skip(const char *p, bool *comment)
{
    *comment = p[0] == '/' && (p[1] == '*' || p[1] == '/');
    if (*comment && p[1] == '/')
        return p + strcspn(p, "\n");
    if (*comment) {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && *p != '\'')
        return p;
    const char *end = p + 1;
    while (*end && *end != *p && *end != '\n')
        end += *end == '\\' && end[1] ? 2 : 1;
    return *end == *p ? end + 1 : end;
}

char *mg_read_code(const char *path, size_t most)
{
    char *text = calloc(1, most + 1), *to = text;
    FILE *file = fopen(path, "re");
    MT_CHECK(text, "out of memory");
    if (file) {
        text[fread(text, 1, most, file)] = 0;
        fclose(file);
    }
    for (const char *p = text; *p;) {
        bool comment;
        const char *end = skip(p, &comment);
        if (end == p)
            end++;
        for (; p < end; p++)
            if (!comment || *p == '\n')
                *to++ = *p;
    }
    *to = 0;
    return text;
}

static bool is_statement(const char *word, size_t length)
{
    static const char *const words[] = { "for", "while", "if", "else", "return", "do", "switch", "case", "include" };
    for (int i = 0; i < MT_COUNT(words); i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return true;
    return false;
}

uint64_t mg_hash_line(const char *line, const char **next)
{
    uint64_t hash = MG_HASH;
    bool word = false;
    while (*line && *line != '\n') {
        size_t n = 1;
        if (isalpha((unsigned char)*line) || *line == '_') {
            while (isalnum((unsigned char)line[n]) || line[n] == '_')
                n++;
            hash = is_statement(line, n) ? mg_hash(hash, line, n) : mg_hash(hash, "name", 4);
            word = true;
        } else if (isdigit((unsigned char)*line)) {
            while (isalnum((unsigned char)line[n]) || line[n] == '.')
                n++;
            hash = mg_hash(hash, "0", 1);
        } else if (!isspace((unsigned char)*line)) {
            hash = mg_hash(hash, line, 1);
        }
        line += n;
    }
    *next = *line ? line + 1 : line;
    return word ? hash : 0;
}
