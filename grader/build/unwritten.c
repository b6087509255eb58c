/* unwritten.c -- what the text of the units says: that a step is not written, or returns no value; one of its lines. */
#include "build/tools.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mg_has(const char *path, const char *text)
{
    char line[1024];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, text);
    if (file)
        fclose(file);
    return found;
}

bool mg_build_unwritten(const mg_build *b, const mg_labinfo *info, const char *step)
{
    char path[PATH_MAX], todo[64];
    bool found = false;
    snprintf(todo, sizeof todo, "MT_TODO(\"%s\")", step);
    for (int i = 0; i < info->units && !found; i++) {
        mg_path(path, "%s/src/labs/%s/%s", b->scratch, info->id, info->unit[i]);
        found = mg_has(path, todo);
    }
    return found;
}

/* Whether lines of code stand between the last region's comment and line `last`, which has its MT_TODO. */
static bool code_before(FILE *file, long last)
{
    char line[1024] = "";
    bool region = false, comment = false, code = false;
    for (long at = 1; at < last && fgets(line, sizeof line, file); at++) {
        if (strstr(line, "/* TO"
                         "DO ")) {
            region = comment = true;
            code = false;
        }
        bool blank = strspn(line, " \t\r\n") == strlen(line);
        code = code || (region && !comment && !blank);
        comment = comment && !strstr(line, "*/");
    }
    return code && fgets(line, sizeof line, file) && strstr(line, "MT_TODO(");
}

/* The unit that `where` names ("labs/02-backprop/softmax.c:41", not trusted); NULL if there is none. */
static FILE *open_unit(const mg_build *b, const char *where)
{
    char path[PATH_MAX];
    const char *colon = strchr(where, ':');
    if (!colon || strncmp(where, "labs/", 5) != 0 || strstr(where, ".."))
        return NULL;
    mg_path(path, "%s/src/%.*s", b->scratch, (int)(colon - where), where);
    return fopen(path, "re");
}

bool mg_build_code(const mg_build *b, const char *where, char *text, size_t size)
{
    char line[1024] = "";
    FILE *file = open_unit(b, where);
    long last = file ? atol(strchr(where, ':') + 1) : 0;
    for (long at = 1; at <= last; at++)
        if (!fgets(line, sizeof line, file))
            last = line[0] = 0;
    if (file)
        fclose(file);
    const char *code = line + strspn(line, " \t");
    snprintf(text, size, "%.*s", (int)strcspn(code, "\r\n"), code);
    for (char *at = text; *at; at++)
        *at = isprint((unsigned char)*at) ? *at : '?';
    return text[0];
}

bool mg_build_code_above(const mg_build *b, const char *where)
{
    FILE *file = open_unit(b, where);
    bool code = file && code_before(file, atol(strchr(where, ':') + 1));
    if (file)
        fclose(file);
    return code;
}

/* Whether the function that ends at `where` has a region of this step, or is a helper beside one. */
static bool concerns(const mg_build *b, const char *where, const char *step)
{
    static const char any_region[] = "/* TO"
                                     "DO ";
    char line[1024], region[32];
    bool ours = false, any = false, beside = false;
    FILE *file = open_unit(b, where);
    long last = file ? atol(strchr(where, ':') + 1) : 0;
    snprintf(region, sizeof region, "%s%s:", any_region, step);
    for (long at = 1; file && fgets(line, sizeof line, file); at++) {
        bool here = strstr(line, region);
        beside = beside || here;
        if (at < last) {
            ours = line[0] != '}' && (ours || here);
            any = line[0] != '}' && (any || strstr(line, any_region));
        }
    }
    if (file)
        fclose(file);
    return ours || (beside && !any);
}

bool mg_build_no_return(const mg_build *b, const char *log, const char *step, const char *function, char *where,
                        size_t size)
{
    static const char in[] = ": In function '";
    char line[512], name[128] = "";
    for (; *log; log += strcspn(log, "\n"), log += *log == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(log, "\n"), log);
        char *at = strstr(line, in), *column = strchr(line, ':');
        if (at)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at + strlen(in), "'"), at + strlen(in));
        if (!column || !strstr(line, "[-Wreturn-type]"))
            continue;
        column[1 + strcspn(column + 1, ":")] = 0;
        snprintf(where, size, "%s", line);
        if (strcmp(name, function) == 0 || concerns(b, where, step))
            return true;
    }
    return false;
}

bool mg_build_later(const mg_build *b, const char *id)
{
    char folder[PATH_MAX], path[PATH_MAX];
    bool later = false;
    mg_path(folder, "%s/units/%s", b->build, id);
    DIR *units = opendir(folder); /* the build keeps the source beside each object */
    for (struct dirent *e; units && !later && (e = readdir(units));) {
        mg_path(path, "%s/%s", folder, e->d_name);
        later = strstr(e->d_name, ".c") && mg_has(path, "MT_TODO(");
    }
    if (units)
        closedir(units);
    return later;
}
