/* build.c -- preparation and compiler runs; link.c links. Layout of the scratch folder:
 *
 *   include/     the framework's headers and no other file of the repository
 *   src/labs/NN-name/ units as collected     obj/NN-name/ their objects     obj/counted/NN-name/ those of MG_COUNTED
 *                                            and the texts of judge.h
 *   src/stub.c, obj/one/ see stub.c
 *   in/          prebuilt: worker/, units/NN-name/, libgiven.a; emu/, the emulator, once a .cu unit needs it
 *   bin/         prebuilt: launch, which starts a worker
 *   out/ worker-*: linked with the student's objects too
 *
 * A compiler run sees include/ and one src/labs/NN-name/, and writes one obj/NN-name/. It starts in src/, so that
 * messages, __FILE__ and debug information have the repository's paths. A link sees its objects and runs none of
 * them. */
#include "build/tools.h"
#include "build/symbols.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char mg_compiler[] = "/usr/bin/gcc";

/* The release flavour's flags (Makefile, which also defines MG_MARCH: both sides of a race are compiled for the same
 * machine), lines and the stack's end for the messages of a crash, and the warnings that a student should see. What gcc
 * 14 takes for an error is one with every gcc, so that a unit that compiles on a laptop compiles where it is marked. */
#define UNIT_FLAGS                                                                                        \
    "-std=gnu11", "-D_GNU_SOURCE", "-O3", "-march=" MG_MARCH, "-fno-math-errno", "-fno-trapping-math",    \
        "--param=avoid-fma-max-bits=0", "-fopenmp", "-g", "-fstack-protector-strong", "-Wall", "-Wextra", \
        "-Werror=implicit-function-declaration", "-Werror=implicit-int", "-Werror=int-conversion",        \
        "-Werror=incompatible-pointer-types", "-fdiagnostics-color=never"

/* ---- preparation ---------------------------------------------------------------------------- */

static mt_status need(const char *path, const char *what)
{
    if (access(path, R_OK) == 0)
        return MT_OK;
    return mt_fail(MT_ERR_UNAVAILABLE, "%s: %s (%s)", path, strerror(errno), what);
}

static mt_status copy_prebuilt(const mg_build *b)
{
    char from[PATH_MAX], to[PATH_MAX];
    mt_status status = MT_OK;
    /* In rows that count bytes, units of later labs call kernels of these two. */
    static const char *const trees[] = { "worker", "units", "counted/01-matmul", "counted/04-optimizers" };
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(trees); i++) {
        mg_path(from, "%s/%s", b->build, trees[i]);
        mg_path(to, "%s/in/%s", b->scratch, trees[i]);
        if (strncmp(trees[i], "counted/", 8) == 0 && access(from, R_OK) != 0)
            continue; /* few rows count */
        status = need(from, "run make first");
        if (status == MT_OK)
            status = mg_share_tree(to, from, ".o", NULL);
    }
    static const char *const files[][2] = { { "libgiven.a", "in/libgiven.a" }, { "worker/launch", "bin/launch" } };
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(files); i++) {
        mg_path(from, "%s/%s", b->build, files[i][0]);
        mg_path(to, "%s/%s", b->scratch, files[i][1]);
        status = need(from, "run make first");
        if (status == MT_OK)
            status = mg_share_file(to, from);
    }
    return status;
}

/* Seconds of mg_work for any lab, and for each unit. On a busy AMD EPYC (Zen 4) all units of the reference and their
 * first link took 1.2 s in lab 01, 1.6 s in lab 08, 2.7 s in lab 06 and 6.1 s in lab 11; a slow machine may take some
 * times that. */
enum { WORK_OF_ANY = 15, WORK_OF_C = 2, WORK_OF_CUDA = 4 };

mt_status mg_build_open(mg_build *b, const char *root, const char *build, const char *scratch, mg_confinement confined)
{
    char from[PATH_MAX], to[PATH_MAX];
    static const char *const folders[] = { "src", "obj", "in", "bin", "out" };
    static const char not_for_units[] = "emulator tests"; /* a quarter of all files there */
    *b = (mg_build){ .root = root, .build = build, .scratch = scratch, .confined = confined };
    mt_status status = need(mg_compiler, "install gcc");
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(folders); i++) {
        mg_path(to, "%s/%s", scratch, folders[i]);
        status = mg_folder(to, i >= 3);
    }
    mg_path(from, "%s/minitorch", root);
    mg_path(to, "%s/include", scratch);
    if (status == MT_OK)
        status = mg_share_tree(to, from, ".h", not_for_units);
    if (status == MT_OK)
        status = mg_share_tree(to, from, ".cuh", not_for_units);
    if (status == MT_OK)
        status = copy_prebuilt(b);
    return status;
}

/* ---- units ---------------------------------------------------------------------------------- */

void mg_build_source(const mg_build *b, const char *id, char path[PATH_MAX])
{
    mg_path(path, "%s/src/labs/%s", b->scratch, id);
}

bool mg_is_cuda(const char *unit)
{
    return strcmp(strchr(unit, '.'), ".cu") == 0;
}

/* The emulator's folder, copied, because the uid in the sandbox may not be allowed to read where it was built. */
mt_status mg_find_emulator(const mg_build *b, char folder[PATH_MAX])
{
    char from[PATH_MAX];
    mg_path(folder, "%s/in/emu", b->scratch);
    if (access(folder, F_OK) == 0)
        return MT_OK;
    mg_path(from, "%s/emu/cuemu", b->build);
    mt_status status = need(from, "the emulator for .cu units: run make, with g++ installed");
    mg_path(from, "%s/emu", b->build);
    return status == MT_OK ? mg_share_tree(folder, from, "", "obj") : status; /* headers of libcu++ have no ending */
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

/* For a unit identical to the reference's, use the reference's object in a tree of the build: for a mutant in a lab of
 * ten units only one is compiled. The build keeps the source beside each object (Makefile; for .cu units traced/,
 * cuda.mk), but for counted/, which is compiled from the same sources as units/. */
static bool reuse(const mg_build *b, const char *tree, const char *id, const char *unit, const char *object)
{
    char folder[PATH_MAX], mine[PATH_MAX], theirs[PATH_MAX], made[PATH_MAX];
    mg_build_source(b, id, folder);
    mg_path(mine, "%s/%s", folder, unit);
    mg_path(theirs, "%s/%s/%s/%s", b->build, strcmp(tree, "counted") == 0 ? "units" : tree, id, unit);
    mg_path(made, "%s/%s/%s/%.*s.o", b->build, tree, id, (int)strcspn(unit, "."), unit);
    return same(mine, theirs) && mg_copy_file(object, made) == MT_OK;
}

void mg_object(char path[PATH_MAX], const char *folder, const char *unit)
{
    mg_path(path, "%s/%.*s.o", folder, (int)strcspn(unit, "."), unit);
}

/* Run a compiler in src/, on a source in `folder`. */
static mt_status run_compiler(const mg_build *b, const char *const *argv, const char *folder, const char *object,
                              mg_work *work, char *log, size_t size)
{
    char src[PATH_MAX], include[PATH_MAX], objects[PATH_MAX], emulator[PATH_MAX];
    mg_path(src, "%s/src", b->scratch);
    mg_path(include, "%s/include", b->scratch);
    mg_path(emulator, "%s/in/emu", b->scratch);
    mg_path(objects, "%.*s", (int)(strrchr(object, '/') - object), object);
    mg_sandbox box = mg_tool_box(b, argv, src);
    box.readable[0] = include;
    box.readable[1] = folder;
    box.readable[2] = access(emulator, F_OK) == 0 ? emulator : NULL;
    box.writable[0] = objects;
    mt_status status = mg_run_tool(&box, "the compiler", work, log, size);
    return status == MT_OK ? mg_is_plain(object) : status;
}

/* GCC SOURCE OBJECT FLAGS: the object is made of the preprocessed text, which is judged (judge.h), in three steps whose
 * texts stay. Preprocessed text has no comments and macros, on which warnings depend, so messages are those of another
 * run, of the source. */
static const char compile_script[] =
    "gcc=$1 source=$2 base=${3%.o}; shift 3\n"
    "\"$gcc\" \"$@\" -E \"$source\" -o \"$base.i\" 2>\"$base.said\" &&\n"
    "    \"$gcc\" \"$@\" -S \"$base.i\" -o \"$base.part\" 2>>\"$base.said\" &&\n"
    "    mv \"$base.part\" \"$base.s\"; failed=$?\n"
    "[ ! -s \"$base.said\" ] || \"$gcc\" \"$@\" -S \"$source\" -o \"$base.again\" || exit\n"
    "[ $failed = 0 ] || { cat \"$base.said\"; exit 1; }\n"
    "exec \"$gcc\" -c \"$base.s\" -o \"$base.o\"";

/* A counted unit (seen.c) calls worker/traffic.c for each access; -O1 does not vectorise: for each element. */
mt_status mg_compile_c(const mg_build *b, const char *source, const char *object, bool counted, mg_work *work,
                       char *log, size_t size)
{
    char flag[PATH_MAX], folder[PATH_MAX], path[PATH_MAX], seen[PATH_MAX];
    mg_path(path, "%s/src/%s", b->scratch, source);
    mg_path(flag, "-I%s/include", b->scratch);
    mg_path(folder, "%s/src/%.*s", b->scratch, (int)(strrchr(source, '/') ? strrchr(source, '/') - source : 0), source);
    const char *const argv[] = { "/bin/sh",
                                 "-c",
                                 compile_script,
                                 "compile",
                                 mg_compiler,
                                 source,
                                 object,
                                 UNIT_FLAGS,
                                 flag,
                                 mg_has(path, "MT_TODO(") ? "-Wno-unused" : "-Wunused",
                                 counted ? seen : NULL,
                                 "-O1",
                                 "-g1",
                                 NULL };
    mt_status status = counted ? mg_seen_options(b, object, seen) : MT_OK;
    status = status == MT_OK ? run_compiler(b, argv, folder, object, work, log, size) : status;
    return status == MT_OK && counted ? mg_seen_check(source, object, log, size) : status;
}

static mt_status compile_cuda(mg_build *b, const char *source, const char *object, char *log, size_t size)
{
    char flag[PATH_MAX], names[PATH_MAX], folder[PATH_MAX], path[PATH_MAX], emulator[PATH_MAX], cuemu[PATH_MAX];
    mt_status status = mg_find_emulator(b, emulator);
    if (status != MT_OK)
        return status;
    mg_path(path, "%s/src/%s", b->scratch, source);
    mg_path(cuemu, "%s/cuemu", emulator);
    mg_path(flag, "-I%s/include", b->scratch);
    mg_path(names, "-fmacro-prefix-map=%s/include=minitorch", b->scratch);
    mg_path(folder, "%s/src/%.*s", b->scratch, (int)(strrchr(source, '/') - source), source);
    const char *const argv[] = { cuemu,
                                 flag,
                                 names,
                                 "-Wall",
                                 "-Wno-sign-compare", /* threadIdx.x < size: nvcc is silent too */
                                 mg_has(path, "MT_TODO(") ? "-Wno-unused" : "-Wunused",
                                 "-fdiagnostics-color=never",
                                 "--keep",
                                 "-c",
                                 source,
                                 "-o",
                                 object,
                                 NULL };
    return run_compiler(b, argv, folder, object, &b->work, log, size);
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

/* Compile one unit, or use the reference's object. */
static mt_status compile(mg_build *b, const char *id, const char *unit, char *log, size_t size)
{
    char objects[PATH_MAX], source[PATH_MAX], path[PATH_MAX], object[PATH_MAX], emulator[PATH_MAX];
    mg_path(objects, "%s/obj/%s", b->scratch, id);
    mg_object(object, objects, unit);
    mg_path(source, "labs/%s/%s", id, unit);
    mg_path(path, "%s/src/%s", b->scratch, source);
    if (access(path, R_OK)) {
        snprintf(log, size, "%s: this unit is missing\n", source);
        return mt_fail(MT_ERR_FORMAT, "%s is missing", source);
    }
    mt_status status = mg_is_cuda(unit) ? mg_find_emulator(b, emulator) : MT_OK;
    if (status != MT_OK || reuse(b, mg_is_cuda(unit) ? "traced" : "units", id, unit, object))
        return status;
    if (mg_is_spent(&b->work, source, log, size))
        return mt_fail(MT_ERR_FORMAT, "%s was left out", source);
    status = mg_is_cuda(unit) ? compile_cuda(b, source, object, log, size)
                              : mg_compile_c(b, source, object, false, &b->work, log, size);
    return examine(b, id, unit, object, status, log, size);
}

mt_status mg_build_units(mg_build *b, const mg_labinfo *info, char *log, size_t size)
{
    char objects[PATH_MAX];
    mg_path(objects, "%s/obj/%s", b->scratch, info->id);
    mt_status status = mg_folder(objects, true);
    bool known = false;
    for (int i = 0; i < b->mines; i++)
        known = known || strcmp(b->mine[i], info->id) == 0;
    if (!known) {
        MT_CHECK(b->mines < MG_UNITS, "too many labs at once");
        strcpy(b->mine[b->mines++], info->id);
        b->work.most += WORK_OF_ANY;
        for (int i = 0; i < info->units; i++)
            b->work.most += mg_is_cuda(info->unit[i]) ? WORK_OF_CUDA : WORK_OF_C;
    }
    for (int i = 0; status == MT_OK && i < info->units; i++) {
        if (mg_is_cuda(info->unit[i]) && strcmp(b->mine[0], info->id) != 0)
            continue; /* of an earlier lab: only the workers of its own lab run .cu units */
        b->cuda = b->cuda || mg_is_cuda(info->unit[i]);
        size_t used = strlen(log);
        status = compile(b, info->id, info->unit[i], log + used, size - used);
        if (status == MT_ERR_FORMAT)
            status = mg_stub(b, info, info->unit[i]);
    }
    return status;
}

/* One C unit, to be counted. */
static mt_status compile_counted(mg_build *b, const char *id, const char *objects, const char *unit, char *log,
                                 size_t size)
{
    char source[PATH_MAX], object[PATH_MAX];
    mg_path(source, "labs/%s/%s", id, unit);
    mg_object(object, objects, unit);
    if (reuse(b, "counted", id, unit, object))
        return MT_OK;
    if (mg_is_spent(&b->work, source, log, size))
        return mt_fail(MT_ERR_FORMAT, "%s was left out", source);
    mt_status status = mg_compile_c(b, source, object, true, &b->work, log, size);
    return examine(b, id, unit, object, status, log, size);
}

mt_status mg_compile_counted(mg_build *b, char *log, size_t size)
{
    char folder[PATH_MAX], objects[PATH_MAX];
    mt_status status = MT_OK;
    for (int i = 0; status == MT_OK && i < b->mines; i++) {
        const char *id = b->mine[i];
        if (i > 0 && !mg_build_later(b, id))
            continue; /* the reference's kernels are called */
        mg_build_source(b, id, folder);
        mg_path(objects, "%s/obj/counted/%s", b->scratch, id);
        status = mg_folder(objects, true);
        DIR *units = opendir(folder);
        for (struct dirent *e; units && status == MT_OK && (e = readdir(units));)
            if (e->d_name[0] != '.' && !mg_is_cuda(e->d_name))
                status = compile_counted(b, id, objects, e->d_name, log, size);
        if (units)
            closedir(units);
    }
    return status;
}
