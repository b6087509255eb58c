/* judge.c -- what is found in a unit, and which texts are read for it. */
#include "build/judge.h"
#include "build/tools.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FINDINGS = 8 };

void mg_find(mg_findings *f, long line, const char *fmt, ...)
{
    size_t used = f->count ? strlen(f->log) : 0; /* replaces the compiler's warnings */
    char number[24] = "";
    va_list args;
    if (++f->count > FINDINGS)
        return;
    if (line > 0)
        snprintf(number, sizeof number, "%ld:", line);
    va_start(args, fmt);
    used += (size_t)snprintf(f->log + used, f->size - used, "labs/%s/%s:%s ", f->id, f->unit, number);
    if (used < f->size)
        used += (size_t)vsnprintf(f->log + used, f->size - used, fmt, args);
    va_end(args);
    if (used < f->size)
        snprintf(f->log + used, f->size - used, "\n");
}

/* The text of a file that a tool or a student has written, NULL unless all of it is text. */
static char *read_whole(const char *path)
{
    struct stat st;
    char *text = mg_is_plain(path) == MT_OK && lstat(path, &st) == 0 ? mg_read_text(path) : NULL;
    if (text && strlen(text) == (size_t)st.st_size)
        return text;
    free(text);
    return NULL;
}

/* A text that the compiler has left: BASE and an ending. */
static char *read_text(const char *base, const char *ending)
{
    char path[PATH_MAX];
    mg_path(path, "%s%s", base, ending);
    return read_whole(path);
}

/* Units may include each other. */
static void judge_sources(mg_findings *f, const mg_build *b)
{
    char folder[PATH_MAX], path[PATH_MAX];
    mg_build_source(b, f->id, folder);
    DIR *units = opendir(folder);
    for (struct dirent *e; units && (e = readdir(units));) {
        if (e->d_name[0] == '.')
            continue;
        mg_path(path, "%s/%s", folder, e->d_name);
        char *text = read_whole(path);
        if (text)
            mg_judge_lines(f, text);
        else
            mg_find(f, 0, "%s has a byte 0, which units may not have", e->d_name);
        free(text);
    }
    if (units)
        closedir(units);
}

void mg_judge_unit(mg_findings *f, const mg_build *b, const char *object, bool compiled)
{
    char base[PATH_MAX], own[PATH_MAX];
    bool cuda = mg_is_cuda(f->unit);
    if (cuda)
        mg_path(base, "%s.cuemu/%s.d/", object, strrchr(object, '/') + 1);
    else
        mg_path(base, "%.*s", (int)strlen(object) - 2, object);
    char *words = read_text(base, cuda ? "unit.ii" : ".i"), *code = read_text(base, cuda ? "translated.ii" : ".i");
    char *assembly = read_text(base, cuda ? "unit.s" : ".s");
    mg_path(own, "%s/src/", b->scratch);
    if (compiled)
        judge_sources(f, b);
    if (words && code && assembly) {
        mg_judge_tokens(f, words, own, MG_WORDS);
        mg_judge_tokens(f, code, own, MG_ASM);
        mg_judge_assembly(f, assembly);
    } else if (compiled) {
        mg_find(f, 0, "its text cannot be read, which units may not cause: it has a byte 0");
    }
    free(words);
    free(code);
    free(assembly);
}
