/* units.c -- the objects of a submission's units: the reference's, one that is kept, or a new one. */
#include "build/judge.h"
#include "build/kept.h"
#include "build/symbols.h"
#include "build/tools.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds of mg_work for any lab, and for each unit. On a busy AMD EPYC (Zen 4) all units of the reference and their
 * first link took 1.2 s in lab 01, 1.6 s in lab 08, 2.7 s in lab 06 and 6.1 s in lab 11; a slow machine may take some
 * times that. */
enum { WORK_OF_ANY = 15, WORK_OF_C = 2, WORK_OF_CUDA = 4 };

/* ---- one unit ------------------------------------------------------------------------------- */

/* The folder with the objects of a lab that belong to a tree of the build. */
static void folder_of(const mg_build *b, const char *tree, const char *id, char path[PATH_MAX])
{
    mg_path(path, strcmp(tree, "counted") == 0 ? "%s/obj/counted/%s" : "%s/obj/%s", b->scratch, id);
}

/* Whether two files have the same contents. */
static bool same(const char *a, const char *b)
{
    FILE *f = fopen(a, "re"), *g = fopen(b, "re");
    int x = f && g ? 0 : EOF, y = f && g ? 0 : 1;
    while (x == y && x != EOF) {
        x = getc(f);
        y = getc(g);
    }
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return x == y;
}

/* Whether a unit is the text of which the reference's object in a tree of the build was made. The build keeps the
 * source beside each object (Makefile; for .cu units traced/, cuda.mk), but for counted/, which is compiled from the
 * same sources as units/. */
static bool is_reference(const mg_build *b, const char *tree, const char *id, const char *unit)
{
    char folder[PATH_MAX], mine[PATH_MAX], theirs[PATH_MAX];
    mg_build_source(b, id, folder);
    mg_path(mine, "%s/%s", folder, unit);
    mg_path(theirs, "%s/%s/%s/%s", b->build, strcmp(tree, "counted") == 0 ? "units" : tree, id, unit);
    return same(mine, theirs);
}

/* For a unit identical to the reference's, use the reference's object: for a mutant in a lab of ten units only one is
 * compiled. */
static bool reuse(const mg_build *b, const char *tree, const char *id, const char *unit, const char *object)
{
    char made[PATH_MAX];
    mg_path(made, "%s/%s/%s/%.*s.o", b->build, tree, id, (int)strcspn(unit, "."), unit);
    return is_reference(b, tree, id, unit) && mg_copy_file(object, made) == MT_OK;
}

/* Whether a unit may be linked. Where the assembler alone has failed, the unit's texts say why. */
static mt_status examine(mg_build *b, const char *id, const char *unit, const char *object, mt_status compiled,
                         char *log, size_t size)
{
    mg_findings findings = { .id = id, .unit = unit, .log = log, .size = size };
    if (b->any_symbol || (compiled != MT_OK && compiled != MT_ERR_FORMAT))
        return compiled;
    if (compiled == MT_OK || !mg_is_cuda(unit))
        mg_judge_unit(&findings, b, object, compiled == MT_OK);
    return compiled == MT_OK ? mg_symbols_check(b, &findings, object) : compiled;
}

/* Make an object of a unit alone, so that it may be kept; of one that includes others of its folder, with these. */
static mt_status compile_new(mg_build *b, const char *tree, const char *id, const char *unit, const char *object,
                             char *log, size_t size)
{
    char source[PATH_MAX], folder[PATH_MAX];
    const char *readable = source;
    mt_status status = MT_ERR_FORMAT;
    mg_path(source, "labs/%s/%s", id, unit);
    mg_path(folder, "labs/%s", id);
    for (int i = 0; i < 2 && status == MT_ERR_FORMAT && (i == 0 || strstr(log, "No such file")); i++) {
        readable = i == 0 ? source : folder;
        status = mg_is_cuda(unit)
                     ? mg_compile_cuda(b, source, readable, object, log, size)
                     : mg_compile_c(b, source, readable, object, strcmp(tree, "counted") == 0, &b->work, log, size);
    }
    status = examine(b, id, unit, object, status, log, size);
    if (status == MT_OK && readable == source && !b->any_symbol)
        mg_kept_put(b, tree, source, object, log);
    return status;
}

/* One unit's object for a tree of the build: the reference's, one that is kept, or a new one. */
static mt_status compile(mg_build *b, const char *tree, const char *id, const char *unit, char *log, size_t size)
{
    char objects[PATH_MAX], source[PATH_MAX], path[PATH_MAX], object[PATH_MAX];
    folder_of(b, tree, id, objects);
    mg_object(object, objects, unit);
    mg_path(source, "labs/%s/%s", id, unit);
    mg_path(path, "%s/src/%s", b->scratch, source);
    if (access(path, R_OK)) {
        snprintf(log, size, "%s: this unit is missing\n", source);
        return mt_fail(MT_ERR_FORMAT, "%s is missing", source);
    }
    if (reuse(b, tree, id, unit, object) || (!b->any_symbol && mg_kept_take(b, tree, source, object, log, size)))
        return MT_OK;
    if (mg_is_spent(&b->work, source, log, size))
        return mt_fail(MT_ERR_FORMAT, "%s was left out", source);
    return compile_new(b, tree, id, unit, object, log, size);
}

/* ---- all units ------------------------------------------------------------------------------ */

/* A unit to be compiled, and how that went. */
typedef struct job {
    const char *tree, *unit;
    mt_status status;
    char why[1024], *log;
} job;

/* Compile units on all processors. What was said is appended to `log` in their order. */
static void compile_all(mg_build *b, const char *id, job *jobs, int count, char *log, size_t size)
{
    for (int i = 0; i < count; i++) {
        jobs[i].log = calloc(1, size);
        MT_CHECK(jobs[i].log, "out of memory");
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < count; i++) {
        jobs[i].status = compile(b, jobs[i].tree, id, jobs[i].unit, jobs[i].log, size);
        snprintf(jobs[i].why, sizeof jobs[i].why, "%s", mt_last_error());
    }
    for (int i = 0; i < count; i++) {
        size_t used = strlen(log);
        snprintf(log + used, size - used, "%s", jobs[i].log);
        free(jobs[i].log);
    }
}

/* Add the budget of a lab that is compiled for the first time. */
static void expect(mg_build *b, const mg_labinfo *info)
{
    for (int i = 0; i < b->mines; i++)
        if (strcmp(b->mine[i], info->id) == 0)
            return;
    MT_CHECK(b->mines < MG_UNITS, "too many labs at once");
    strcpy(b->mine[b->mines++], info->id);
    b->work.most += WORK_OF_ANY;
    for (int i = 0; i < info->units; i++)
        b->work.most += mg_is_cuda(info->unit[i]) ? WORK_OF_CUDA : WORK_OF_C;
}

/* Compile these units of a lab; a stub takes the place of one that does not compile. */
static mt_status make_units(mg_build *b, const mg_labinfo *info, job *jobs, int count, char *log, size_t size)
{
    compile_all(b, info->id, jobs, count, log, size);
    for (int i = 0; i < count; i++) {
        if (jobs[i].status != MT_OK && jobs[i].status != MT_ERR_FORMAT)
            return mt_fail(jobs[i].status, "%s", jobs[i].why);
        mt_status status = jobs[i].status == MT_OK ? MT_OK : mg_stub(b, info, jobs[i].unit);
        if (status != MT_OK)
            return status;
    }
    return MT_OK;
}

/* Whether a unit can wait until a row calls it: one of the graded lab that names steps ("LAB 11.1 BEGIN", "TODO 11.1:",
 * MT_TODO("11.1"), "steps 11.1, 11.2"), but not this one. The reference's objects are there: to link all of them takes
 * less than to compile a stub, and to link again when a row calls one. */
static bool can_wait(const mg_build *b, const mg_labinfo *info, const char *tree, const char *unit)
{
    char path[PATH_MAX], name[16];
    mg_path(path, "%s/src/labs/%s/%s", b->scratch, info->id, unit);
    snprintf(name, sizeof name, "%.2s.", info->id);
    bool waits = b->step[0] && strcmp(b->mine[0], info->id) == 0 && access(path, R_OK) == 0 && mg_has(path, name);
    for (const char *end = " :\","; waits && *end; end++) {
        snprintf(name, sizeof name, "%s%c", b->step, *end);
        waits = !mg_has(path, name);
    }
    return waits && !is_reference(b, tree, info->id, unit);
}

mt_status mg_build_units(mg_build *b, const mg_labinfo *info, char *log, size_t size)
{
    char objects[PATH_MAX], emulator[PATH_MAX];
    job jobs[MG_UNITS];
    int count = 0;
    folder_of(b, "units", info->id, objects);
    mt_status status = mg_folder(objects, true);
    expect(b, info);
    for (int i = 0; status == MT_OK && i < info->units; i++) {
        const char *unit = info->unit[i];
        bool cuda = mg_is_cuda(unit);
        if (cuda && strcmp(b->mine[0], info->id) != 0)
            continue; /* a unit of an earlier lab: only the workers of its own lab run .cu units */
        b->cuda = b->cuda || cuda;
        status = cuda ? mg_find_emulator(b, emulator) : MT_OK;
        const char *tree = cuda ? "traced" : "units";
        if (can_wait(b, info, tree, unit))
            strcpy(b->unasked[b->unaskeds++], unit);
        else
            jobs[count++] = (job){ .tree = tree, .unit = unit };
    }
    if (status == MT_OK)
        status = make_units(b, info, jobs, count, log, size);
    return status == MT_OK ? mg_stub_unasked(b, info->id) : status;
}

bool mg_is_unasked(const mg_build *b, const char *unit)
{
    for (int i = 0; i < b->unaskeds; i++)
        if (strcmp(b->unasked[i], unit) == 0)
            return true;
    return false;
}

mt_status mg_build_more(mg_build *b, const mg_labinfo *info, const char *unit, char *log, size_t size)
{
    char name[MG_UNITS][64];
    job jobs[MG_UNITS];
    int count = 0, left = 0;
    for (int i = 0; i < b->unaskeds; i++)
        if (!unit || strcmp(b->unasked[i], unit) == 0)
            strcpy(name[count++], b->unasked[i]);
        else
            memmove(b->unasked[left++], b->unasked[i], sizeof name[0]);
    b->unaskeds = left;
    for (int i = 0; i < count; i++)
        jobs[i] = (job){ .tree = mg_is_cuda(name[i]) ? "traced" : "units", .unit = name[i] };
    mt_status status = make_units(b, info, jobs, count, log, size);
    return status == MT_OK ? mg_stub_unasked(b, info->id) : status;
}

/* The stub of units that no row has called is linked with counted units, too. */
static mt_status share_stub(const mg_build *b, const char *id)
{
    char from[PATH_MAX], to[PATH_MAX];
    mg_path(from, "%s/obj/%s/unasked.o", b->scratch, id);
    mg_path(to, "%s/obj/counted/%s/unasked.o", b->scratch, id);
    unlink(to);
    return access(from, F_OK) == 0 ? mg_copy_file(to, from) : MT_OK;
}

/* The C units of a lab, to be counted. */
static mt_status count_units(mg_build *b, const char *id, char *log, size_t size)
{
    char folder[PATH_MAX], objects[PATH_MAX];
    struct dirent **entry = NULL;
    job jobs[MG_UNITS];
    int count = 0;
    mg_build_source(b, id, folder);
    folder_of(b, "counted", id, objects);
    mt_status status = mg_folder(objects, true);
    int entries = scandir(folder, &entry, NULL, alphasort);
    for (int i = 0; i < entries && count < MG_UNITS; i++)
        if (entry[i]->d_name[0] != '.' && !mg_is_cuda(entry[i]->d_name) && !mg_is_unasked(b, entry[i]->d_name))
            jobs[count++] = (job){ .tree = "counted", .unit = entry[i]->d_name };
    if (status == MT_OK)
        compile_all(b, id, jobs, count, log, size);
    for (int i = 0; i < count && status == MT_OK; i++)
        if (jobs[i].status != MT_OK)
            status = mt_fail(jobs[i].status, "%s", jobs[i].why);
    for (int i = 0; i < entries; i++)
        free(entry[i]);
    free(entry);
    return status == MT_OK ? share_stub(b, id) : status;
}

mt_status mg_compile_counted(mg_build *b, char *log, size_t size)
{
    mt_status status = MT_OK;
    for (int i = 0; status == MT_OK && i < b->mines; i++)
        if (i == 0 || mg_build_later(b, b->mine[i])) /* else the reference's kernels are called */
            status = count_units(b, b->mine[i], log, size);
    return status;
}
