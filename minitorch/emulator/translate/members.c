/* members.c -- which accesses in the compiled unit are of a vector's members: v.x, p->z, v.w *= 2, v = {a, b, c, d}.
 *
 * nvcc makes one access of all members of a float4, because it knows how the float4 is aligned. g++ calls a hook for
 * each, which does not say what it is a part of. The assembly has line and column of every call, so the text there
 * tells. The hooks of members have names of their own (parts.c); nothing else is changed. */
#include "emulator/translate/translate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *text; /* in the translated unit; those of a statement follow each other */
    int file, number;
} line;

static line *the_line;
static int lines;
static char **file_name;
static int files;

/* The number of a file; only the last part of its path counts, as options map the others. */
static int file_of(const char *path, size_t length)
{
    const char *slash = memrchr(path, '/', length);
    size_t skipped = slash ? (size_t)(slash + 1 - path) : 0;
    for (int i = 0; i < files; i++)
        if (strlen(file_name[i]) == length - skipped && memcmp(file_name[i], path + skipped, length - skipped) == 0)
            return i;
    file_name = grow(file_name, files, sizeof *file_name);
    file_name[files] = strndup(path + skipped, length - skipped);
    return files++;
}

/* The file that is named in quotes on the line. */
static int file_named(const char *at)
{
    const char *name = at + strcspn(at, "\"\n");
    return *name == '"' ? file_of(name + 1, strcspn(name + 1, "\"\n")) : -1;
}

/* Line markers, # 12 "unit.cu", number the lines after them. */
static void list_lines(const char *text)
{
    int file = -1, number = 0;
    for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
        if (at[0] == '#' && at[1] == ' ' && isdigit((unsigned char)at[2])) {
            number = atoi(at + 2);
            file = file_named(at);
            continue;
        }
        the_line = grow(the_line, lines, sizeof *the_line);
        the_line[lines++] = (line){ at, file, number++ };
    }
}

/* What the unit says at this line and column, from 1; NULL: not known. *begin: where the line begins. */
static const char *text_at(int file, int number, int column, const char **begin)
{
    for (int i = 0; i < lines; i++)
        if (the_line[i].number == number && the_line[i].file == file) {
            *begin = the_line[i].text;
            return (size_t)column <= strcspn(*begin, "\n") ? *begin + column - 1 : NULL;
        }
    return NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* x, y, z or w if a member's name begins at `at`, else 0. */
static char member_at(const char *begin, const char *at)
{
    bool selected = (at > begin && at[-1] == '.') || (at > begin + 1 && at[-2] == '-' && at[-1] == '>');
    return selected && strchr("xyzw", *at) && !is_word(at[1]) ? *at : 0;
}

/* The member in front of an operator: of "v.x += ...". */
static char member_before(const char *begin, const char *at)
{
    while (at > begin && at[-1] == ' ')
        at--;
    return at > begin ? member_at(begin, at - 1) : 0;
}

/* "= {" or "= float4{" */
static bool is_list(const char *at)
{
    if (*at++ != '=')
        return false;
    at += strspn(at, " \n");
    while (is_word(*at) || *at == ':')
        at++;
    return *(at + strspn(at, " \n")) == '{';
}

/* A place in the source, as .loc has it. */
typedef struct place {
    int file, line, column;
    int lists; /* calls for members of a list there, so far */
} place;

static place *the_place; /* those with lists */
static int places;

static char next_of_list(place now)
{
    for (int i = 0; i < places; i++)
        if (the_place[i].file == now.file && the_place[i].line == now.line && the_place[i].column == now.column)
            return "xyzw"[the_place[i].lists++ % 4];
    the_place = grow(the_place, places, sizeof *the_place);
    the_place[places] = now;
    the_place[places++].lists = 1;
    return 'x';
}

/* Which member is accessed at this place; 0: none. */
static char member_of(place now, bool write)
{
    const char *begin, *at = text_at(now.file, now.line, now.column, &begin);
    if (!at)
        return 0;
    return !write ? member_at(begin, at) : is_list(at) ? next_of_list(now) : member_before(begin, at);
}

/* The call of a hook for 4 or 8 bytes on this line of assembly, or NULL. */
static const char *hook_on(const char *at, size_t length)
{
    const char *hook = memmem(at, length, "__tsan_", 7), *end;
    if (!hook)
        return NULL;
    end = hook + strcspn(hook, "\n");
    bool is_access = strncmp(hook, "__tsan_read", 11) == 0 || strncmp(hook, "__tsan_write", 12) == 0;
    return is_access && (end[-1] == '4' || end[-1] == '8') && isalpha((unsigned char)end[-2]) ? hook : NULL;
}

static void rewrite(const char *text, FILE *out)
{
    int file[1000] = { 0 }; /* by the number that .loc has */
    place now = { -1, 0, 0, 0 };
    for (const char *at = text, *end; *at; at = end) {
        end = strchr(at, '\n') + 1;
        char *rest = NULL;
        if (strncmp(at, "\t.file ", 7) == 0 || strncmp(at, "\t.loc ", 6) == 0) {
            long id = strtol(at + strcspn(at, " "), &rest, 10);
            if (id <= 0 || id >= 1000)
                now.file = -1;
            else if (at[2] == 'f')
                file[id] = file_named(at);
            else
                now = (place){ file[id], (int)strtol(rest, &rest, 10), (int)strtol(rest, NULL, 10), 0 };
        }
        const char *hook = hook_on(at, (size_t)(end - at));
        bool write = hook && hook[7] == 'w', wide = end[-2] == '8';
        char member = hook ? member_of(now, write) : 0;
        if (member)
            fprintf(out, "%.*scuemu_%s_%s%c\n", (int)(hook - at), at,
                    wide                   ? "part"
                    : strchr("xy", member) ? "low"
                                           : "high",
                    write ? "write" : "read", end[-2]);
        else
            fwrite(at, 1, (size_t)(end - at), out);
    }
}

int members(const char *unit, const char *assembly)
{
    const char *translated = read_text(unit), *code = read_text(assembly);
    FILE *out = translated && code ? fopen(assembly, "w") : NULL;
    if (!out) {
        perror(assembly);
        return 1;
    }
    list_lines(translated);
    rewrite(code, out);
    bool failed = ferror(out); /* a full disk, say */
    if (fclose(out) == 0 && !failed)
        return 0;
    perror(assembly);
    return 1;
}
