/* unwritten.c -- which steps the text of the units leaves unwritten. */
#include "build_tools.h"

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

bool mg_build_code_above(const mg_build *b, const char *where)
{
    char path[PATH_MAX];
    const char *colon = strchr(where, ':');
    if (!colon || strncmp(where, "labs/", 5) != 0 || strstr(where, ".."))
        return false;
    mg_path(path, "%s/src/%.*s", b->scratch, (int)(colon - where), where);
    FILE *file = fopen(path, "re");
    bool code = file && code_before(file, atol(colon + 1));
    if (file)
        fclose(file);
    return code;
}
