/* source.c -- reading a unit and its local headers, collecting edits, writing the copies.
 *
 * A header is local when an #include of it resolves in the including file's folder or in a -I folder. It is copied too,
 * because it may hold kernels and launches, and the #include line is pointed at the copy. `#pragma once` keeps working:
 * one file has one copy. What cannot be found is left to the compiler (system headers, the emulator's own, #if 0). */
#include "emulator/translate/translate.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

unit the_unit;

char *format(const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    return text;
}

void complain(const source *s, int line, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: error: ", s->path, line);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    the_unit.errors++;
}

void *grow(void *array, int count, size_t size)
{
    if (count & (count - 1)) /* room for the next power of two was made at the last one */
        return array;
    array = realloc(array, (count ? 2 * (size_t)count : 1) * size);
    if (!array)
        abort();
    return array;
}

/* ---- edits ---------------------------------------------------------------------------------- */

static void add_edit(source *s, long begin, long end, const char *text, bool macro)
{
    s->edit = grow(s->edit, s->edits, sizeof *s->edit);
    s->edit[s->edits++] = (edit){ .begin = begin, .end = end, .text = strdup(text), .macro = macro };
}

void replace(source *s, int from, int to, const char *text)
{
    const token *last = &s->token[to - 1];
    add_edit(s, s->token[from].at - s->text, last->at + last->length - s->text, text, s->token[from].macro);
}

void insert_after(source *s, int i, const char *text)
{
    long at = s->token[i].at + s->token[i].length - s->text;
    add_edit(s, at, at, text, s->token[i].macro);
}

char *span(const source *s, int from, int to)
{
    if (from >= to)
        return strdup("");
    const token *last = &s->token[to - 1];
    return strndup(s->token[from].at, (size_t)(last->at + last->length - s->token[from].at));
}

static int count_lines(const char *from, const char *to)
{
    int lines = 0;
    for (; from < to; from++)
        lines += *from == '\n';
    return lines;
}

static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : (x->end > y->end) - (x->end < y->end);
}

/* The path as a string literal's inside. */
static void write_quoted(FILE *file, const char *path)
{
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            fputc('\\', file);
        fputc(*path, file);
    }
}

void source_write(source *s)
{
    FILE *file = fopen(s->copy, "w");
    if (!file) {
        perror(s->copy);
        exit(1);
    }
    fputs("#line 1 \"", file);
    write_quoted(file, s->path);
    fputs("\"\n", file);
    qsort(s->edit, (size_t)s->edits, sizeof *s->edit, by_place);
    long done = 0;
    for (int i = 0; i < s->edits; i++) {
        const edit *e = &s->edit[i];
        if (e->begin < done) /* inside what another edit replaced: that one carries it already */
            continue;
        fwrite(s->text + done, 1, (size_t)(e->begin - done), file);
        fputs(e->text, file);
        int missing = count_lines(s->text + e->begin, s->text + e->end) - count_lines(e->text, strchr(e->text, '\0'));
        for (; missing > 0; missing--)
            fputs(e->macro ? " \\\n" : "\n", file);
        done = e->end;
    }
    fputs(s->text + done, file);
    if (fclose(file) != 0) {
        perror(s->copy);
        exit(1);
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
        if (file)
            fclose(file);
        return NULL;
    }
    char *text = calloc(1, (size_t)status.st_size + 2);
    size_t got = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
    fclose(file);
    if (text && (got == 0 || text[got - 1] != '\n'))
        text[got] = '\n';
    return text;
}

char *find_local(const source *from, const char *name, bool quoted)
{
    struct stat status;
    if (name[0] == '/')
        return stat(name, &status) == 0 ? strdup(name) : NULL;
    if (quoted) {
        const char *slash = strrchr(from->path, '/');
        char *path = format("%.*s%s", slash ? (int)(slash + 1 - from->path) : 0, from->path, name);
        if (stat(path, &status) == 0)
            return path;
    }
    for (int i = 0; i < the_unit.includes; i++) {
        char *path = format("%s/%s", the_unit.include[i], name);
        if (stat(path, &status) == 0)
            return path;
    }
    return NULL;
}

/* `#include "name"` or <name>: where the name stands, or NULL for another directive. */
static const char *include_name(const token *t, int *length)
{
    const char *p = t->at + 1, *end = t->at + t->length;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (strncmp(p, "include", 7) != 0)
        return NULL;
    for (p += 7; p < end && (*p == ' ' || *p == '\t'); p++)
        ;
    if (*p != '"' && *p != '<')
        return NULL;
    const char *close = memchr(p + 1, *p == '"' ? '"' : '>', (size_t)(end - p - 1));
    *length = close ? (int)(close - p - 1) : 0;
    return close ? p + 1 : NULL;
}

static void load_includes(source *s)
{
    for (int i = 0; i < s->tokens; i++) {
        int length;
        const char *name = s->token[i].kind == TOKEN_DIRECTIVE ? include_name(&s->token[i], &length) : NULL;
        if (!name)
            continue;
        char *path = find_local(s, strndup(name, (size_t)length), name[-1] == '"');
        if (!path)
            continue;
        const source *header = unit_load(path);
        if (header)
            add_edit(s, name - 1 - s->text, name + length + 1 - s->text, format("\"%s\"", header->copy), false);
    }
}

source *unit_load(const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return NULL;
    for (int i = 0; i < the_unit.sources; i++)
        if (strcmp(the_unit.source[i]->real, real) == 0)
            return the_unit.source[i];
    source *s = calloc(1, sizeof *s);
    if (!s || !(s->text = read_file(path)))
        return NULL;
    int number = the_unit.sources;
    const char *base = strrchr(real, '/') + 1;
    s->path = path;
    s->real = strdup(real);
    s->copy = number ? format("%s/%d-%s", the_unit.out, number, base) : format("%s/unit.cpp", the_unit.out);
    the_unit.source = grow(the_unit.source, number, sizeof(source *));
    the_unit.source[the_unit.sources++] = s;
    source_lex(s);
    load_includes(s);
    return s;
}
