/* build.c -- preparation and compiler runs; link.c links. Layout of the scratch folder:
 *
 *   include/     the framework's headers and no other file of the repository
 *   src/labs/NN-name/ units as collected     obj/NN-name/ their objects     obj/counted/NN-name/ those of MG_COUNTED
 *   src/stub.c, obj/one/ see stub.c
 *   in/          prebuilt: worker/, units/NN-name/, libgiven.a; emu/, the emulator, once a .cu unit needs it
 *   bin/         prebuilt: launch, which starts a worker
 *   out/ worker-*: linked with the student's objects too
 *
 * A compiler run sees include/ and one src/labs/NN-name/, and writes one obj/NN-name/. It starts in src/, so that
 * messages, __FILE__ and debug information have the repository's paths. A link sees its objects and runs none of
 * them. */
#include "build/tools.h"
#include "sandbox/freeze.h"
#include "sandbox/patience.h"
#include "sandbox/session.h"
#include "build/symbols.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char mg_compiler[] = "/usr/bin/gcc";

/* The release flavour's flags (Makefile, which also defines MG_MARCH: both sides of a race are compiled for the same
 * machine), lines and the stack's end for the messages of a crash, and the warnings that a student should see. */
#define UNIT_FLAGS                                                                                        \
    "-std=gnu11", "-D_GNU_SOURCE", "-O3", "-march=" MG_MARCH, "-fno-math-errno", "-fno-trapping-math",    \
        "--param=avoid-fma-max-bits=0", "-fopenmp", "-g", "-fstack-protector-strong", "-Wall", "-Wextra", \
        "-fdiagnostics-color=never"

static const mg_limits tool_limits = {
    .cpu_s = 1,
    /* times the factor in sandbox.c: 64 s */ .wall_s = 60,
    .memory_mib = 4096,
    .file_mib = 64,
    .output_kib = 512,
};

/* ---- running a tool ------------------------------------------------------------------------- */

enum { TOO_MUCH_OUTPUT = -1, OVERDUE = -2, TOO_MUCH_WORK = -3, MOST_BUSY = 5 };

/* Read what a tool prints (its start goes to `log`) until it ends or exceeds its limits. Returns its status. One that
 * has not worked half of its time waits for others: it gets five times as long. */
static int watch(mg_process *process, const mg_limits *limits, char *log, size_t size)
{
    char chunk[8192];
    size_t used = 0, total = 0;
    mg_patience patience = mg_patience_new();
    struct pollfd p[2] = { { .fd = process->output, .events = POLLIN }, { .fd = process->pidfd, .events = POLLIN } };
    int over = 0;
    for (bool ended = false; !ended && !over;) {
        poll(p, 2, MG_TICK_MS);
        ended = p[1].revents;
        for (ssize_t n; (n = read(process->output, chunk, sizeof chunk)) > 0 && !over;) {
            size_t take = mt_min(n, (int64_t)(size - 1 - used));
            memcpy(log + used, chunk, take);
            used += take;
            total += (size_t)n;
            over = total > (size_t)limits->output_kib << 10 ? TOO_MUCH_OUTPUT : 0;
        }
        double waited = mg_waiting(&patience);
        if (!over && !ended && (mg_stop || waited > limits->wall_s * MOST_BUSY))
            over = OVERDUE;
        else if (!over && !ended && waited > limits->wall_s && mg_tree_seconds(process->child) > limits->wall_s / 2)
            over = TOO_MUCH_WORK;
    }
    log[used] = 0;
    int status = mg_process_end(process);
    return over ? over : status;
}

/* Why a tool was ended, as the last line of what it printed. */
static void add_reason(char *log, size_t size, const char *what, int code)
{
    char line[160];
    const char *why = code == TOO_MUCH_WORK     ? "it took too long"
                      : code == TOO_MUCH_OUTPUT ? "it printed more than 512 KiB"
                                                : "without a message: too much time, memory or output";
    int length = snprintf(line, sizeof line, "%s%s was ended (status %d): %s", log[0] ? "\n" : "", what, code, why);
    size_t at = strlen(log), room = (size_t)length + 1;
    if (room <= size)
        memcpy(log + (at < size - room ? at : size - room), line, room);
}

/* Whether the system killed a program of gcc. One that reaches a limit of ours is not killed: it says that it is out of
 * memory. Lines about a unit begin with a path. */
static bool is_killed(const char *log)
{
    const char *at = strstr(log, "gcc: fatal error: Killed signal terminated program");
    return at && (at == log || at[-1] == '\n');
}

mt_status mg_run_tool(const mg_sandbox *box, const char *what, char *log, size_t size)
{
    mg_process process;
    mt_status status = mg_sandbox_start(&process, box);
    if (status != MT_OK)
        return status;
    int code = watch(&process, &box->limits, log, size);
    if (code == 0)
        return MT_OK;
    if (mg_stop)
        return mt_fail(MT_ERR_STOPPED, "interrupted");
    if (code == TOO_MUCH_WORK || code == TOO_MUCH_OUTPUT || !log[0])
        add_reason(log, size, what, code);
    if (code == OVERDUE)
        return mt_fail(MT_ERR_UNAVAILABLE, "%s took longer than %g s: the machine is busy, grade again", what,
                       box->limits.wall_s * MOST_BUSY);
    if (is_killed(log))
        return mt_fail(MT_ERR_UNAVAILABLE, "%s was killed: the machine has too little memory, grade again", what);
    return mt_fail(MT_ERR_FORMAT, "%s failed", what);
}

mg_sandbox mg_tool_box(const mg_build *b, const char *const *argv, const char *folder)
{
    return (mg_sandbox){ .confined = b->confined,
                         .toolchain = true,
                         .tmp_mib = 256,
                         .filter = MG_FILTER_COMPILER,
                         .limits = tool_limits,
                         .argv = argv,
                         .folder = folder };
}

/* Output of a sandboxed tool must be a plain file before we use it. */
mt_status mg_is_plain(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? MT_OK : mt_fail(MT_ERR_FORMAT, "%s was not made", path);
}

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
                              char *log, size_t size)
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
    mt_status status = mg_run_tool(&box, "the compiler", log, size);
    return status == MT_OK ? mg_is_plain(object) : status;
}

/* A counted unit calls worker/traffic.c for each access; loops are not vectorised at -O1, so that is a call for each
 * element. */
mt_status mg_compile_c(const mg_build *b, const char *source, const char *object, bool counted, char *log, size_t size)
{
    char flag[PATH_MAX], folder[PATH_MAX], path[PATH_MAX];
    mg_path(path, "%s/src/%s", b->scratch, source);
    mg_path(flag, "-I%s/include", b->scratch);
    mg_path(folder, "%s/src/%.*s", b->scratch, (int)(strrchr(source, '/') ? strrchr(source, '/') - source : 0), source);
    const char *const argv[] = { mg_compiler,
                                 UNIT_FLAGS,
                                 flag,
                                 "-c",
                                 source,
                                 "-o",
                                 object,
                                 mg_has(path, "MT_TODO(") ? "-Wno-unused" : "-Wunused",
                                 counted ? "-fsanitize=thread" : NULL,
                                 "-O1",
                                 "-g1",
                                 NULL };
    return run_compiler(b, argv, folder, object, log, size);
}

static mt_status compile_cuda(const mg_build *b, const char *source, const char *object, char *log, size_t size)
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
                                 "-c",
                                 source,
                                 "-o",
                                 object,
                                 NULL };
    return run_compiler(b, argv, folder, object, log, size);
}

/* Compile one unit, or use the reference's object. */
static mt_status compile(const mg_build *b, const char *id, const char *unit, char *log, size_t size)
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
    status = mg_is_cuda(unit) ? compile_cuda(b, source, object, log, size)
                              : mg_compile_c(b, source, object, false, log, size);
    return status == MT_OK && !b->any_symbol ? mg_symbols_check(b, id, unit, object, log, size) : status;
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
static mt_status compile_counted(const mg_build *b, const char *id, const char *objects, const char *unit, char *log,
                                 size_t size)
{
    char source[PATH_MAX], object[PATH_MAX];
    mg_path(source, "labs/%s/%s", id, unit);
    mg_object(object, objects, unit);
    if (reuse(b, "counted", id, unit, object))
        return MT_OK;
    mt_status status = mg_compile_c(b, source, object, true, log, size);
    return status == MT_OK && !b->any_symbol ? mg_symbols_check(b, id, unit, object, log, size) : status;
}

mt_status mg_compile_counted(const mg_build *b, char *log, size_t size)
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
