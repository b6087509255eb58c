/* edits.c -- reading a unit, collecting edits, writing the result. */
#include "emulator/translate/translate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int complaints;

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

static void say(const token *at, const char *severity, const char *fmt, va_list args)
{
    fprintf(stderr, "%s:%d: %s: ", at->file, at->line, severity);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
}

void complain(const token *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(at, "error", fmt, args);
    va_end(args);
    complaints++;
}

void warn(const token *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(at, "warning", fmt, args);
    va_end(args);
}

void *grow(void *array, int count, size_t size)
{
    if (count & (count - 1)) /* the capacity is the next power of two */
        return array;
    array = realloc(array, (count ? 2 * (size_t)count : 1) * size);
    if (!array)
        abort();
    return array;
}

/* ---- edits ---------------------------------------------------------------------------------- */

static void add_edit(source *s, const token *first, const token *last, const char *text)
{
    const char *end = last->at + last->length;
    s->edit = grow(s->edit, s->edits, sizeof *s->edit);
    s->edit[s->edits++] = (edit){
        .begin = (first ? first->at : end) - s->text, .end = end - s->text, .text = strdup(text), .last = last
    };
}

void replace(source *s, int from, int to, const char *text)
{
    add_edit(s, &s->token[from], &s->token[to - 1], text);
}

void insert_after(source *s, int i, const char *text)
{
    add_edit(s, NULL, &s->token[i], text);
}

char *span(const source *s, int from, int to)
{
    char *text = strdup("");
    for (int i = from; i < to; i++) {
        const token *t = &s->token[i];
        const char *name = new_name(s, i);
        bool together = i > from && t->at == t[-1].at + t[-1].length;
        char *longer = name ? format("%s%s%s", text, *text && !together ? " " : "", name)
                            : format("%s%s%.*s", text, *text && !together ? " " : "", t->length, t->at);
        free(text);
        text = longer;
    }
    return text;
}

char *quoted(const source *s, int from, int to)
{
    const char *text = span(s, from, to);
    char *literal = calloc(1, 2 * strlen(text) + 3), *p = literal;
    *p++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *p++ = '\\';
        *p++ = *text;
    }
    *p = '"';
    return literal;
}

static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if ((x->begin == x->end) != (y->begin == y->end)) /* an insertion directly follows the token before it */
        return x->begin == x->end ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

bool source_write(source *s, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    qsort(s->edit, (size_t)s->edits, sizeof *s->edit, by_place);
    long done = 0;
    for (int i = 0; i < s->edits; i++) {
        const edit *e = &s->edit[i];
        if (e->begin < done) /* inside the range of another edit, whose text contains it already */
            continue;
        fwrite(s->text + done, 1, (size_t)(e->begin - done), file);
        fputs(e->text, file);
        if (memchr(s->text + e->begin, '\n', (size_t)(e->end - e->begin)))
            fprintf(file, "\n# %d \"%s\"\n", e->last->line, e->last->file);
        done = e->end;
    }
    fputs(s->text + done, file);
    return fclose(file) == 0;
}

char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0)
        return NULL;
    char *text = calloc(1, (size_t)status.st_size + 2);
    size_t got = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
    fclose(file);
    if (!text || got != (size_t)status.st_size)
        return NULL;
    if (got == 0 || text[got - 1] != '\n')
        text[got] = '\n';
    return text;
}

bool source_read(source *s, const char *path)
{
    s->text = read_text(path);
    if (s->text)
        source_lex(s);
    return s->text;
}
