/* strip.c -- generates the skeleton of a solution unit, and checks its marks.
 *
 *   strip IN.c OUT.c       write the skeleton of IN.c to OUT.c (-: standard output)
 *   strip --check FILES    only lint
 *
 * A region runs from a comment "LAB 01.1 BEGIN  What to write." (with a hint on the lines that follow) to a comment
 * "LAB 01.1 END", each mark alone on its line. In the skeleton the first comment stays, as "TODO 01.1: What to write.",
 * and MT_TODO("01.1"); takes the place of the code.
 *
 * The indentation tells where a region is: an indented one is inside a function and becomes its comment and MT_TODO;
 * one in column 0 contains whole functions at file scope and becomes its comment only. Only what other regions use may
 * be in column 0; skeletons.sh checks this by compiling the skeleton. The rest is unchanged.
 *
 * A file with a bad mark has no skeleton: nothing is written. OUT.c is replaced in one step or not at all. Exit status:
 * 0 done, 1 bad marks, 2 a wrong command line or a file that cannot be read or written. */
#include "core/io.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BODY = 40, MAX_REGIONS = 200 };

typedef struct region {
    char step[8];      /* "01.1" */
    const char *title; /* the words after BEGIN */
    int64_t begin;     /* line of BEGIN */
    int64_t body;      /* first line after its comment */
    int64_t end;       /* line of END */
} region;

typedef struct source {
    const char *path;
    char **line; /* without newlines */
    int64_t count;
    region region[MAX_REGIONS];
    int64_t regions;
    int problems;
} source;

/* ---- reading -------------------------------------------------------------------------------- */

static mt_status source_open(source *s, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    *s = (source){ .path = path };
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&text, &room, file)) >= 0) {
        if (length > 0 && text[length - 1] == '\n')
            text[length - 1] = '\0';
        s->line = realloc(s->line, (size_t)(s->count + 1) * sizeof *s->line);
        MT_CHECK(s->line, "out of memory");
        s->line[s->count++] = text;
        text = NULL, room = 0;
    }
    free(text);
    bool bad = ferror(file);
    fclose(file);
    return bad ? mt_fail(MT_ERR_IO, "%s: cannot read it: is it a folder?", path) : MT_OK;
}

static void source_free(source *s)
{
    for (int64_t i = 0; i < s->count; i++)
        free(s->line[i]);
    free(s->line);
}

MT_PRINTF(3, 4) static void complain(source *s, int64_t line, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "%s:%lld: ", s->path, (long long)line + 1);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    s->problems++;
}

/* ---- finding regions ------------------------------------------------------------------------- */

typedef enum mark { NO_MARK, BEGIN_MARK, END_MARK, BAD_MARK } mark;

/* A step is two digits, a dot, one or two digits. */
static bool is_step(const char *step)
{
    size_t n = strlen(step);
    return n >= 4 && n <= 5 && isdigit((unsigned char)step[0]) && isdigit((unsigned char)step[1]) && step[2] == '.' &&
           strspn(step + 3, "0123456789") == n - 3;
}

/* What a line is, and its step. A line with LAB and BEGIN or END in any other form is an error. */
static mark mark_of(const char *line, char step[8], const char **title)
{
    int used = 0;
    if (sscanf(line, " /* LAB %7[0-9.] BEGIN%n", step, &used) == 1 && used && is_step(step)) {
        *title = line + used + strspn(line + used, " ");
        return BEGIN_MARK;
    }
    if (sscanf(line, " /* LAB %7[0-9.] END */%n", step, &used) == 1 && used && is_step(step))
        return line[used + (int)strspn(line + used, " ")] ? BAD_MARK : END_MARK;
    const char *lab = strstr(line, "LAB ");
    return lab && (strstr(lab, " BEGIN") || strstr(lab, " END")) ? BAD_MARK : NO_MARK;
}

/* The line after the comment that starts on line `begin`; reports a comment without an end, or with code on its last
 * line. */
static int64_t after_comment(source *s, int64_t begin)
{
    char step[8];
    const char *title;
    for (int64_t i = begin; i < s->count && (i == begin || mark_of(s->line[i], step, &title) == NO_MARK); i++) {
        const char *close = strstr(s->line[i], "*/");
        if (!close)
            continue;
        if (close[2 + strspn(close + 2, " ")])
            complain(s, i, "code after a region's comment, put it on a line of its own");
        return i + 1;
    }
    complain(s, begin, "the region's comment never ends, close it with */");
    return begin + 1;
}

static void find_regions(source *s)
{
    region *open = NULL;
    for (int64_t i = 0; i < s->count; i++) {
        char step[8];
        const char *title = "";
        switch (mark_of(s->line[i], step, &title)) {
        case NO_MARK:
            break;
        case BAD_MARK:
            complain(s, i,
                     "not a mark, write '/* LAB 01.1 BEGIN  What to write.' or '/* LAB 01.1 END */' alone on a line");
            break;
        case BEGIN_MARK:
            if (open)
                complain(s, i, "region %s begins inside region %s of line %lld, end that one first", step, open->step,
                         (long long)open->begin + 1);
            MT_CHECK(s->regions < MAX_REGIONS, "%s: more than %d regions", s->path, MAX_REGIONS);
            open = &s->region[s->regions++];
            *open = (region){ .title = title, .begin = i, .body = after_comment(s, i), .end = s->count };
            memcpy(open->step, step, sizeof step);
            break;
        case END_MARK:
            if (!open)
                complain(s, i, "region %s ends but did not begin, add its BEGIN or remove this line", step);
            else if (strcmp(open->step, step) != 0)
                complain(s, i, "region %s of line %lld ends as %s, give both the same number", open->step,
                         (long long)open->begin + 1, step);
            if (open)
                open->end = i;
            open = NULL;
            break;
        }
    }
    if (open)
        complain(s, open->begin, "region %s never ends, add '/* LAB %s END */'", open->step, open->step);
}

/* ---- judging regions ------------------------------------------------------------------------- */

/* The lab a path belongs to, "01" of "solutions/01-matmul/matmul.c"; "" when its folder is not a lab's. */
static void lab_of(const char *path, char lab[3])
{
    const char *slash = strrchr(path, '/'), *folder = slash;
    while (folder && folder > path && folder[-1] != '/')
        folder--;
    bool is_lab = folder && isdigit((unsigned char)folder[0]) && isdigit((unsigned char)folder[1]) && folder[2] == '-';
    snprintf(lab, 3, "%s", is_lab ? folder : "");
}

/* The first line from `from` to before `to` that holds code, not only blanks and comments; `to` when there is none. */
static int64_t first_code(const source *s, int64_t from, int64_t to)
{
    bool comment = false;
    for (int64_t i = from; i < to; i++) {
        for (const char *p = s->line[i]; *p; p++) {
            if (comment && p[0] == '*' && p[1] == '/')
                comment = false, p++;
            else if (comment || isspace((unsigned char)*p))
                continue;
            else if (p[0] == '/' && p[1] == '*')
                comment = true, p++;
            else if (p[0] == '/' && p[1] == '/')
                break;
            else
                return i;
        }
    }
    return to;
}

static bool indented(const char *line)
{
    return line[0] == ' ' || line[0] == '\t';
}

static void check_region(source *s, const region *r)
{
    char lab[3];
    lab_of(s->path, lab);
    int64_t lines = r->end - r->body, code = first_code(s, r->body, r->end);
    if (*lab && strncmp(r->step, lab, 2) != 0)
        complain(s, r->begin, "region %s stands in lab %s, number it %s.x or move it", r->step, lab, lab);
    if (!*r->title || strncmp(r->title, "*/", 2) == 0)
        complain(s, r->begin, "region %s has no comment, say after BEGIN what the student writes", r->step);
    if (lines > MAX_BODY)
        complain(s, r->begin, "region %s has %lld lines (at most %d), split it: 5 to 25 lines are one idea", r->step,
                 (long long)lines, MAX_BODY);
    if (code >= r->end)
        complain(s, r->begin, "region %s is empty, put the solution between BEGIN and END", r->step);
    else if (!indented(s->line[r->begin]) && indented(s->line[code]))
        complain(s, r->begin, "region %s in column 0 holds code of a function's inside, indent its marks", r->step);
}

/* Reads and judges a file; its problems are on stderr and counted in s->problems. */
static mt_status lint(source *s, const char *path)
{
    mt_status status = source_open(s, path);
    if (status != MT_OK)
        return status;
    find_regions(s);
    if (!s->regions && !s->problems)
        complain(s, 0, "no marked region, mark what the student writes or move the file to minitorch/");
    for (int64_t i = 0; i < s->regions && !s->problems; i++)
        check_region(s, &s->region[i]);
    return MT_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void print_skeleton(FILE *out, const source *s)
{
    int64_t at = 0;
    for (int64_t i = 0; i < s->regions; i++) {
        const region *r = &s->region[i];
        int indent = (int)strspn(s->line[r->begin], " ");
        for (; at < r->begin; at++)
            fprintf(out, "%s\n", s->line[at]);
        fprintf(out, "%*s/* TODO %s: %s\n", indent, "", r->step, r->title);
        for (at++; at < r->body; at++)
            fprintf(out, "%s\n", s->line[at]);
        if (indent)
            fprintf(out, "%*sMT_TODO(\"%s\"); /* delete this line when yours stands here */\n", indent, "", r->step);
        at = r->end + 1;
    }
    for (; at < s->count; at++)
        fprintf(out, "%s\n", s->line[at]);
}

static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static mt_status write_skeleton(const char *path, const source *s)
{
    mt_file_writer file;
    if (same_file(path, s->path))
        return mt_fail(MT_ERR_ARGUMENT, "%s: the skeleton would replace its own solution", path);
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    print_skeleton(file.out, s);
    return mt_file_writer_close(&file);
}

/* ---- the command ------------------------------------------------------------------------------ */

static int check_files(char **paths, int count)
{
    int exit_status = 0;
    for (int i = 0; i < count; i++) {
        source s = { 0 };
        if (lint(&s, paths[i]) != MT_OK) {
            fprintf(stderr, "strip: %s\n", mt_last_error());
            exit_status = 2;
        } else if (s.problems && !exit_status) {
            exit_status = 1;
        }
        source_free(&s);
    }
    return exit_status;
}

static int make_skeleton(const char *in, const char *out)
{
    source s = { 0 };
    mt_status status = lint(&s, in);
    int exit_status = s.problems ? 1 : 0;
    if (status == MT_OK && !s.problems) {
        if (strcmp(out, "-") == 0) {
            print_skeleton(stdout, &s);
            if (fflush(stdout) != 0)
                status = mt_fail(MT_ERR_IO, "standard output: %s", strerror(errno));
        } else {
            status = write_skeleton(out, &s);
        }
    }
    if (status != MT_OK) {
        fprintf(stderr, "strip: %s\n", mt_last_error());
        exit_status = 2;
    }
    source_free(&s);
    return exit_status;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--check") == 0)
        return check_files(argv + 2, argc - 2);
    if (argc == 3 && argv[1][0] != '-')
        return make_skeleton(argv[1], argv[2]);
    fprintf(stderr, "usage: strip IN.c OUT.c     write the skeleton of a solution unit (OUT.c -: standard output)\n"
                    "       strip --check FILES  lint the marks\n");
    return 2;
}
