/* stub.c -- a unit that does not build costs the rows that call it, and no others.
 *
 * A stub exports the names that the reference's unit exports. Each of its functions ends the worker like a step that
 * is not written yet, but names the unit: "TODO softmax.c". Tables that a unit exports are zeros. */
#include "build/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool mg_is_broken(const mg_build *b, const char *unit)
{
    for (int i = 0; i < b->brokens; i++)
        if (strcmp(b->broken[i], unit) == 0)
            return true;
    return false;
}

/* Write the functions and tables of a line of `defined`, "units/02-backprop/linear.o: mt_linear_fwd_cpu T 0 1f4". */
static bool write_symbol(FILE *out, const char *line, const char *member, const char *unit)
{
    char name[128], type;
    unsigned long long bytes = 0;
    size_t n = strlen(member);
    if (strncmp(line, member, n) != 0 || sscanf(line + n, "%127s %c %*x %llx", name, &type, &bytes) < 2 ||
        strncmp(name, "_Z", 2) == 0)
        return false;
    if (type == 'T')
        fprintf(out, "void %s(void);\nvoid %s(void) { MT_TODO(\"%s\"); }\n", name, name, unit);
    else if (strchr("DBR", type))
        fprintf(out, "extern char %s[];\nchar %s[%llu] = { 0 };\n", name, name, bytes);
    return true;
}

/* What the reference's unit exports is in the list that `make` writes (Makefile): neither its object nor its text need
 * be there, and the student's may be missing. */
static mt_status write_stub(const mg_build *b, const char *path, const char *id, const char (*unit)[64], int units)
{
    char list[PATH_MAX], member[PATH_MAX], line[1024];
    int found = 0;
    mg_path(list, "%s/defined", b->build);
    FILE *in = fopen(list, "re"), *out = fopen(path, "we");
    if (out)
        fputs("#include \"core/base.h\"\n", out);
    for (int i = 0; in && out && i < units; i++) {
        bool any = false;
        mg_path(member, "units/%s/%.*s.o: ", id, (int)strcspn(unit[i], "."), unit[i]);
        rewind(in);
        while (fgets(line, sizeof line, in))
            any = write_symbol(out, line, member, unit[i]) || any;
        found += any;
    }
    if (in)
        fclose(in);
    if (!out || fclose(out))
        return mt_fail(MT_ERR_IO, "cannot write %s", path);
    return found == units ? MT_OK
                          : mt_fail(MT_ERR_UNAVAILABLE, "%s: no symbols of a unit of %s (run make first)", list, id);
}

/* Compile the stub of units into `object`. */
static mt_status make_stubs(const mg_build *b, const char *id, const char (*unit)[64], int units, const char *object)
{
    char path[PATH_MAX], log[1024];
    mg_path(path, "%s/src/stub.c", b->scratch);
    mt_status status = write_stub(b, path, id, unit, units);
    return status == MT_OK ? mg_compile_c(b, "stub.c", "stub.c", object, false, NULL, log, sizeof log) : status;
}

static mt_status make_stub(const mg_build *b, const char *id, const char *unit, const char *object)
{
    char name[1][64];
    snprintf(name[0], sizeof name[0], "%s", unit);
    return make_stubs(b, id, name, 1, object);
}

mt_status mg_stub_unasked(const mg_build *b, const char *id)
{
    char object[PATH_MAX];
    mg_path(object, "%s/obj/%s/unasked.o", b->scratch, id);
    if (b->unaskeds > 0)
        return make_stubs(b, id, b->unasked, b->unaskeds, object);
    unlink(object);
    return MT_OK;
}

mt_status mg_stub(mg_build *b, const mg_labinfo *info, const char *unit)
{
    char folder[PATH_MAX], objects[PATH_MAX], object[PATH_MAX], stub[PATH_MAX], source[PATH_MAX];
    mg_build_source(b, info->id, folder);
    mg_path(objects, "%s/obj/%s", b->scratch, info->id);
    mg_object(object, objects, unit);
    unlink(object);
    mt_status status = make_stub(b, info->id, unit, object);
    if (status != MT_OK || mg_is_broken(b, unit))
        return status;
    MT_CHECK(b->brokens < MG_UNITS, "too many units");
    strcpy(b->broken[b->brokens++], unit);
    mg_path(stub, "%s/src/stub.c", b->scratch);
    mg_path(source, "%s/%s", folder, unit);
    unlink(source);
    return mg_is_cuda(unit) ? MT_OK : mg_copy_file(source, stub); /* for mg_compile_counted */
}

/* obj/one/: this unit's object, and stubs for the others of its lab. */
static mt_status gather_one(const mg_build *b, const mg_labinfo *info, const char *unit, const char *objects,
                            const char *one)
{
    char from[PATH_MAX], to[PATH_MAX];
    mt_status status = mg_folder(one, true);
    for (int i = 0; status == MT_OK && i < info->units; i++) {
        mg_object(from, objects, info->unit[i]);
        mg_object(to, one, info->unit[i]);
        unlink(to);
        if (strcmp(info->unit[i], unit) == 0 || mg_is_broken(b, info->unit[i]))
            status = mg_copy_file(to, from);
        else
            status = make_stub(b, info->id, info->unit[i], to);
    }
    return status;
}

/* Whether the worker links with these objects in place of the lab's. */
static mt_status link_one(mg_build *b, const mg_labinfo *info, const char *unit, char *log, size_t size)
{
    char objects[PATH_MAX], one[PATH_MAX], all[PATH_MAX], worker[PATH_MAX];
    mg_path(objects, "%s/obj/%s", b->scratch, info->id);
    mg_path(one, "%s/obj/one", b->scratch);
    mg_path(all, "%s/obj/all", b->scratch);
    mt_status status = gather_one(b, info, unit, objects, one);
    if (status != MT_OK || rename(objects, all) || rename(one, objects))
        return status == MT_OK ? mt_fail(MT_ERR_IO, "cannot rename %s", objects) : status;
    status = mg_build_worker(b, info->id, MG_MINE, worker, log, size);
    return rename(objects, one) || rename(all, objects) ? mt_fail(MT_ERR_IO, "cannot rename %s", objects) : status;
}

/* Keeps only what is missing or defined twice: the names of our own objects in the linker's messages do not help. */
static void add_words(char *log, size_t size, const char *name, char *words)
{
    static const char *const telling[] = { "undefined reference to ", "multiple definition of " };
    bool told = strstr(words, telling[0]) || strstr(words, telling[1]);
    size_t used = strlen(log), begin = used + strlen(name);
    used += (size_t)snprintf(log + used, size - used, "%s does not link:\n%s", name, told ? "" : words);
    for (char *line = strtok(words, "\n"); line && used < size; line = strtok(NULL, "\n"))
        for (int64_t i = 0; i < MT_COUNT(telling) && used < size; i++) {
            char *at = strstr(line, telling[i]);
            if (at && !strstr(log + begin, at))
                used += (size_t)snprintf(log + used, size - used, "  %.*s\n", (int)strcspn(at, ";"), at);
        }
}

mt_status mg_build_repair(mg_build *b, const mg_labinfo *info, char *log, size_t size)
{
    mt_status status = MT_OK;
    for (int i = 0; status == MT_OK && i < info->units; i++) {
        char words[8192] = "", name[128];
        if (mg_is_broken(b, info->unit[i]))
            continue;
        snprintf(name, sizeof name, "labs/%s/%s", info->id, info->unit[i]);
        bool spent = mg_is_spent(&b->work, name, words, sizeof words);
        status = spent ? MT_ERR_FORMAT : link_one(b, info, info->unit[i], words, sizeof words);
        if (status != MT_ERR_FORMAT)
            continue;
        add_words(log, size, name, words);
        status = mg_stub(b, info, info->unit[i]);
    }
    return status;
}
