/* build.c -- preparation and compiler runs; units.c says of which units, link.c links. Layout of the scratch folder:
 *
 *   include/     the framework's headers and no other file of the repository
 *   src/labs/NN-name/ units as collected     obj/NN-name/ their objects     obj/counted/NN-name/ those of MG_COUNTED
 *                                            and the texts of judge.h
 *   src/stub.c, obj/one/ see stub.c
 *   in/          prebuilt: worker/, units/NN-name/, libgiven.a; emu/, the emulator, once a .cu unit needs it
 *   bin/         prebuilt: launch, which starts a worker
 *   out/ worker-*: linked with the student's objects too
 *
 * A compiler run sees include/ and one unit, and writes one obj/NN-name/. It starts in src/, so that messages and
 * __FILE__ have the repository's paths; debug information has them behind MG_UNITS_PLACE, wherever the scratch folder
 * is. A link sees its objects and runs none of them. */
#include "build/tools.h"
#include "build/kept.h"

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

/* Paths in objects are those of the repository. */
#define INCLUDE_MAP "-ffile-prefix-map=%s/include=minitorch"
#define UNITS_MAP   "-fdebug-prefix-map=%s/src=" MG_UNITS_PLACE

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
    /* In rows that count bytes, units of later labs call kernels of those with "counted" in lab.json (Makefile). */
    static const char *const trees[] = { "worker", "units", MG_COUNTED_LABS };
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(trees); i++) {
        mg_path(from, "%s/%s", b->build, trees[i]);
        mg_path(to, "%s/in/%s", b->scratch, trees[i]);
        if (strncmp(trees[i], "counted/", 8) == 0 && access(from, R_OK) != 0)
            continue; /* few rows count */
        status = need(from, "run make first");
        if (status == MT_OK)
            status = mg_share_tree(to, from, ".o", NULL);
    }
    static const char *const files[][2] = { { "libgiven.a", "in/libgiven.a" },
                                            { "libcalls.a", "in/libcalls.a" },
                                            { "worker/launch", "bin/launch" } };
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(files); i++) {
        mg_path(from, "%s/%s", b->build, files[i][0]);
        mg_path(to, "%s/%s", b->scratch, files[i][1]);
        status = need(from, "run make first");
        if (status == MT_OK)
            status = mg_share_file(to, from);
    }
    return status;
}

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
    if (status == MT_OK)
        mg_kept_open(b);
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

void mg_object(char path[PATH_MAX], const char *folder, const char *unit)
{
    mg_path(path, "%s/%.*s.o", folder, (int)strcspn(unit, "."), unit);
}

/* Run a compiler in src/, where it sees `readable`: its source, or the folder of that. */
static mt_status run_compiler(const mg_build *b, const char *const *argv, const char *readable, const char *object,
                              mg_work *work, char *log, size_t size)
{
    char src[PATH_MAX], include[PATH_MAX], objects[PATH_MAX], emulator[PATH_MAX], seen[PATH_MAX];
    mg_path(src, "%s/src", b->scratch);
    mg_path(seen, "%s/%s", src, readable);
    mg_path(include, "%s/include", b->scratch);
    mg_path(emulator, "%s/in/emu", b->scratch);
    mg_path(objects, "%.*s", (int)(strrchr(object, '/') - object), object);
    mg_sandbox box = mg_tool_box(b, argv, src);
    box.readable[0] = include;
    box.readable[1] = seen;
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
mt_status mg_compile_c(const mg_build *b, const char *source, const char *readable, const char *object, bool counted,
                       mg_work *work, char *log, size_t size)
{
    char flag[PATH_MAX], names[PATH_MAX], place[PATH_MAX], path[PATH_MAX], seen[PATH_MAX];
    mg_path(path, "%s/src/%s", b->scratch, source);
    mg_path(flag, "-I%s/include", b->scratch);
    mg_path(names, INCLUDE_MAP, b->scratch);
    mg_path(place, UNITS_MAP, b->scratch);
    const char *const argv[] = { "/bin/sh",
                                 "-c",
                                 compile_script,
                                 "compile",
                                 mg_compiler,
                                 source,
                                 object,
                                 UNIT_FLAGS,
                                 flag,
                                 names,
                                 place,
                                 mg_has(path, "MT_TODO(") ? "-Wno-unused" : "-Wunused",
                                 counted ? seen : NULL,
                                 "-O1",
                                 "-g1",
                                 NULL };
    mt_status status = counted ? mg_seen_options(object, seen) : MT_OK;
    status = status == MT_OK ? run_compiler(b, argv, readable, object, work, log, size) : status;
    return status == MT_OK && counted ? mg_seen_check(source, object, log, size) : status;
}

mt_status mg_compile_cuda(mg_build *b, const char *source, const char *readable, const char *object, char *log,
                          size_t size)
{
    char flag[PATH_MAX], names[PATH_MAX], place[PATH_MAX], path[PATH_MAX], emulator[PATH_MAX], cuemu[PATH_MAX];
    mt_status status = mg_find_emulator(b, emulator);
    if (status != MT_OK)
        return status;
    mg_path(path, "%s/src/%s", b->scratch, source);
    mg_path(cuemu, "%s/cuemu", emulator);
    mg_path(flag, "-I%s/include", b->scratch);
    mg_path(names, INCLUDE_MAP, b->scratch);
    mg_path(place, UNITS_MAP, b->scratch);
    const char *const argv[] = { cuemu,
                                 flag,
                                 names,
                                 place,
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
    return run_compiler(b, argv, readable, object, &b->work, log, size);
}
