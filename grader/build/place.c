/* place.c -- see place.h. */
#include "build/place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_HOME = 0, ANYWHERE = 2 };

/* The path with / between its folders, without ./ at the beginning. */
static void clean(char to[PATH_MAX], const char *path)
{
    while (path[0] == '.' && (path[1] == '/' || path[1] == '\\'))
        path += 2;
    snprintf(to, PATH_MAX, "%s", path);
    for (char *p = to; *p; p++)
        *p = *p == '\\' ? '/' : *p;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);
    return n >= m && strcasecmp(text + n - m, with) == 0;
}

int mg_place(const mg_labinfo *info, const char *path, int *rank)
{
    char place[PATH_MAX], home[128];
    clean(place, path);
    const char *name = strrchr(place, '/') ? strrchr(place, '/') + 1 : place;
    int folders = 1;
    for (const char *p = place; *p; p++)
        folders += *p == '/';
    for (int i = 0; i < info->units; i++) {
        snprintf(home, sizeof home, "labs/%s/%s", info->id, info->unit[i]);
        if (strcasecmp(name, info->unit[i]) == 0) {
            *rank = (ends(place, home) ? AT_HOME : ANYWHERE * folders) + (strcmp(name, info->unit[i]) != 0);
            return i;
        }
    }
    return -1;
}

bool mg_place_is_litter(const char *path)
{
    char place[PATH_MAX];
    clean(place, path);
    const char *name = strrchr(place, '/') ? strrchr(place, '/') + 1 : place;
    const char *mac = strstr(place, "__MACOSX");
    return name[0] == '.' || strcmp(name, "Thumbs.db") == 0 || strcmp(name, "desktop.ini") == 0 ||
           (mac && (mac == place || mac[-1] == '/') && (mac[8] == '/' || !mac[8]));
}

bool mg_place_is_archive(const char *name)
{
    static const char *const endings[] = { ".zip", ".tgz", ".txz", ".tbz2", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar" };
    for (int i = 0; i < MT_COUNT(endings); i++)
        if (strlen(name) > strlen(endings[i]) && ends(name, endings[i]))
            return true;
    return false;
}

const char *mg_place_no_text(const char *text, int64_t bytes)
{
    bool wide =
        bytes >= 2 && (!text[0] || !text[1] || memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    return wide ? "UTF-16 text: save it as UTF-8" : NULL;
}

/* ---- what has been found ---------------------------------------------------------------------------- */

void mg_found_begin(mg_found *f, const mg_labinfo *info, char *ignored, size_t size)
{
    *f = (mg_found){ .info = info, .ignored = ignored, .size = size };
    for (int i = 0; i < MG_UNITS; i++)
        f->rank[i] = MG_NOT_FOUND;
}

void mg_found_end(mg_found *f)
{
    for (int i = 0; i < MG_UNITS; i++)
        free(f->from[i]);
}

void mg_found_ignore(mg_found *f, const char *name, const char *why)
{
    char clean[64];
    size_t used = strlen(f->ignored), n = 0;
    for (const char *p = name; *p && n < sizeof clean - 1; p++)
        clean[n++] = *p >= ' ' && *p < 127 ? *p : '?'; /* file names are untrusted text too */
    clean[n] = 0;
    if (used < f->size)
        snprintf(f->ignored + used, f->size - used, "%s%s (%s)", used ? ", " : "", clean, why);
}

void mg_found_take(mg_found *f, int unit, int rank, const char *path)
{
    if (f->from[unit])
        mg_found_ignore(f, f->from[unit], "a second copy");
    free(f->from[unit]);
    f->from[unit] = strdup(path);
    f->rank[unit] = rank;
}

bool mg_found_is_other(const mg_found *f, const char *name)
{
    for (int i = 0; i < f->info->others; i++)
        if (strcmp(name, f->info->other[i]) == 0)
            return true;
    return false;
}
