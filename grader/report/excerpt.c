/* excerpt.c -- see excerpt.h. Functions are found by their layout: a definition begins in column 0 and ends with the
 * next line that begins with a brace. Where a unit is laid out otherwise, some lines around the place are shown. */
#include "report/excerpt.h"
#include "sandbox/scratch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 256 << 10, AROUND = 8, MOST_BACK = 1000, MOST_HEAD = 2000, MOST_LINES_BACK = 400 };

/* ---- the units --------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? calloc(1, MOST_BYTES + 1) : NULL;
    size_t n = text ? fread(text, 1, MOST_BYTES, file) : 0;
    for (size_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = 1;
    if (file)
        fclose(file);
    return text;
}

mg_sources *mg_sources_read(const char *folder, const mg_labinfo *info)
{
    mg_sources *all = calloc(1, sizeof *all + (size_t)info->units * sizeof all->source[0]);
    MT_CHECK(all, "out of memory");
    for (int i = 0; i < info->units; i++) {
        mg_source *source = &all->source[all->count];
        char path[PATH_MAX];
        mg_path(path, "%s/%s", folder, info->unit[i]);
        source->text = read_text(path);
        snprintf(source->unit, sizeof source->unit, "%s", info->unit[i]);
        all->count += source->text != NULL;
    }
    return all;
}

void mg_sources_free(mg_sources *sources)
{
    for (int i = 0; sources && i < sources->count; i++)
        free(sources->source[i].text);
    free(sources);
}

/* ---- lines ------------------------------------------------------------------------------------- */

const char *mg_excerpt_line(const mg_source *source, int line, int *length)
{
    const char *at = source->text;
    for (int i = 1; i < line && at; i++) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    if (!at || !*at)
        return NULL;
    *length = (int)strcspn(at, "\n");
    return at;
}

static int line_of(const mg_source *source, const char *at)
{
    int line = 1;
    for (const char *p = source->text; p < at; p++)
        line += *p == '\n';
    return line;
}

/* Not further back than lines of code are long: a unit may be one line of 256 KiB. */
static const char *line_begin(const mg_source *source, const char *at)
{
    for (int i = 0; i < MOST_BACK && at > source->text && at[-1] != '\n'; i++)
        at--;
    return at;
}

/* The line that ends the function in whose text `at` is, or the last of the unit. */
static int end_line(const mg_source *source, const char *at)
{
    const char *brace = at[0] == '}' && line_begin(source, at) == at ? at : strstr(at, "\n}");
    return brace ? line_of(source, brace + (*brace == '\n')) : line_of(source, at + strlen(at));
}

/* Whether a definition begins here, in column 0: a name and a parenthesis, and a brace before any semicolon. */
static bool is_head(const char *at)
{
    bool paren = false;
    if (!isalpha((unsigned char)*at) && *at != '_')
        return false;
    for (int i = 0; i < MOST_HEAD && at[i] && at[i] != ';'; i++) {
        paren = paren || at[i] == '(';
        if (paren && at[i] == '{')
            return true;
        if (!paren && at[i] == '\n')
            return false;
    }
    return false;
}

/* ---- functions --------------------------------------------------------------------------------- */

/* The function around `at`, or some lines if there is none. */
static mg_excerpt around(const mg_source *source, const char *at)
{
    const char *head = line_begin(source, at);
    int line = line_of(source, at);
    for (int i = 0; i < MOST_LINES_BACK && !is_head(head) && head > source->text && (*head != '}' || i == 0); i++)
        head = line_begin(source, head - 1);
    if (is_head(head))
        return (mg_excerpt){ source, line_of(source, head), end_line(source, at), 0 };
    return (mg_excerpt){ source, line > AROUND ? line - AROUND : 1, line + AROUND, 0 };
}

static bool is_word_end(char c)
{
    return !isalnum((unsigned char)c) && c != '_';
}

/* Where a function of this name is defined; NULL: not in this unit. */
static const char *definition(const mg_source *source, const char *name, size_t n)
{
    for (const char *at = source->text; n && (at = strstr(at, name)); at += n) {
        const char *head = line_begin(source, at);
        if (at[n] == '(' && (at == head || is_word_end(at[-1])) && is_head(head) && head + strcspn(head, "(") == at + n)
            return head;
    }
    return NULL;
}

static int add(mg_excerpt *excerpts, int count, int most, mg_excerpt new)
{
    for (int i = 0; i < count; i++)
        if (excerpts[i].source == new.source && excerpts[i].first == new.first)
            return count;
    if (count < most)
        excerpts[count++] = new;
    return count;
}

/* "transpose.cu:41" in the row's message, of one of the units. */
static int add_named(mg_excerpt *excerpts, int most, const mg_sources *sources, const mg_row *row)
{
    for (int i = 0; i < sources->count; i++) {
        const mg_source *source = &sources->source[i];
        size_t n = strlen(source->unit);
        const char *at = strstr(row->detail, source->unit);
        int line = at && at[n] == ':' ? atoi(at + n + 1) : 0, length;
        const char *text = line > 0 && line < MOST_BYTES ? mg_excerpt_line(source, line, &length) : NULL;
        if (!text)
            continue;
        mg_excerpt e = around(source, text);
        e.marked = line;
        return add(excerpts, 0, most, e);
    }
    return 0;
}

/* Another function that rows call: its name begins with mt_. */
static bool is_entry(const mg_excerpt *e)
{
    int length;
    const char *head = mg_excerpt_line(e->source, e->first, &length);
    const char *name = head ? strstr(head, "mt_") : NULL;
    return name && name < head + length && is_head(head) && name[strcspn(name, "( \n")] == '(';
}

/* Functions with a region of the step: its comment stays where the student's code stands. */
static int add_regions(mg_excerpt *excerpts, int count, int most, const mg_source *source, const char *step,
                       bool entries)
{
    char todo[40], lab[40];
    snprintf(todo, sizeof todo,
             "/* TO"
             "DO %s:",
             step);
    snprintf(lab, sizeof lab, "/* LAB %s BEGIN", step);
    for (const char *at = source->text; *at && count < most; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *region = at + strspn(at, " \t");
        if (strncmp(region, todo, strlen(todo)) == 0 || strncmp(region, lab, strlen(lab)) == 0) {
            const mg_excerpt e = around(source, at);
            count = entries || !is_entry(&e) ? add(excerpts, count, most, e) : count;
        }
    }
    return count;
}

int mg_excerpt_find(mg_excerpt *excerpts, int most, const mg_sources *sources, const mg_row *row)
{
    if (!sources)
        return 0;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(row->call, "( "), row->call);
    int count = add_named(excerpts, most, sources, row);
    for (int i = 0; i < sources->count; i++) {
        const char *head = definition(&sources->source[i], name, strlen(name));
        if (!head)
            continue;
        count = add(excerpts, count, most,
                    (mg_excerpt){ &sources->source[i], line_of(&sources->source[i], head),
                                  end_line(&sources->source[i], head), 0 });
        return add_regions(excerpts, count, most, &sources->source[i], row->step, false);
    }
    for (int i = 0; i < sources->count && count < most; i++)
        count = add_regions(excerpts, count, most, &sources->source[i], row->step, true);
    return count;
}

bool mg_excerpt_todo(mg_excerpt *at, const mg_sources *sources, const char *step)
{
    char todo[64];
    snprintf(todo, sizeof todo, "MT_TODO(\"%s\")", step);
    for (int i = 0; sources && i < sources->count; i++) {
        const char *found = strstr(sources->source[i].text, todo);
        if (!found)
            continue;
        int line = line_of(&sources->source[i], found);
        *at = (mg_excerpt){ &sources->source[i], line, line, 0 };
        return true;
    }
    return false;
}
