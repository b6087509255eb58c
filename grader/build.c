/* build.c -- preparation and compiler runs; link.c links. Layout of the scratch folder:
 *
 *   include/     the framework's headers and no other file of the repository
 *   src/NN-name/ units as collected     obj/NN-name/  their objects     obj/counted/  those of MG_COUNTED
 *   in/          prebuilt: worker/, units/NN-name/, libgiven.a; emu/, the emulator, once a .cu unit needs it
 *   bin/ launch, worker-0: linked from our objects only
 *   out/ worker-*: linked with the student's objects too
 *
 * A compiler run sees include/ and one src/NN-name/, and writes one obj/NN-name/. A link sees its objects and runs none
 * of them. */
#include "build_tools.h"
#include "patience.h"

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
 * machine), and the warnings that a student should see. */
#define UNIT_FLAGS                                                                                                 \
    "-std=gnu11", "-D_GNU_SOURCE", "-O3", "-march=" MG_MARCH, "-fno-math-errno", "-fno-trapping-math", "-fopenmp", \
        "-Wall", "-Wextra", "-Wno-unused", "-fdiagnostics-color=never"

static const mg_limits limits = {
    .cpu_s = 1,
    /* times the factor in sandbox.c: 64 s */ .wall_s = 60,
    .memory_mib = 4096,
    .file_mib = 64,
    .output_kib = 512,
};

/* ---- running a tool ------------------------------------------------------------------------- */

/* Read what a tool prints (its start goes to `log`) until it ends or exceeds its limits. */
static int watch(mg_process *process, char *log, size_t size)
{
    char chunk[8192];
    size_t used = 0, total = 0;
    mg_patience patience = mg_patience_new();
    struct pollfd p[2] = { { .fd = process->output, .events = POLLIN }, { .fd = process->pidfd, .events = POLLIN } };
    bool over = false;
    for (bool ended = false; !ended && !over;) {
        poll(p, 2, MG_TICK_MS);
        ended = p[1].revents;
        for (ssize_t n; (n = read(process->output, chunk, sizeof chunk)) > 0 && !over;) {
            size_t take = mt_min(n, (int64_t)(size - 1 - used));
            memcpy(log + used, chunk, take);
            used += take;
            total += (size_t)n;
            over = total > (size_t)limits.output_kib << 10;
        }
        over = over || mg_waiting(&patience) > limits.wall_s;
    }
    log[used] = 0;
    int status = mg_process_end(process);
    return over ? -1 : status;
}

mt_status mg_run_tool(const mg_sandbox *box, const char *what, char *log, size_t size)
{
    mg_process process;
    mt_status status = mg_sandbox_start(&process, box);
    if (status != MT_OK)
        return status;
    int code = watch(&process, log, size);
    if (code == 0)
        return MT_OK;
    if (!log[0])
        snprintf(log, size, "%s ended without a message (status %d): too much time, memory or output", what, code);
    return mt_fail(MT_ERR_FORMAT, "%s failed", what);
}

mg_sandbox mg_tool_box(const mg_build *b, const char *const *argv, const char *folder)
{
    return (mg_sandbox){ .confined = b->confined,
                         .toolchain = true,
                         .tmp_mib = 256,
                         .filter = MG_FILTER_COMPILER,
                         .limits = limits,
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
    static const char *const trees[] = { "worker", "units" };
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(trees); i++) {
        mg_path(from, "%s/%s", b->build, trees[i]);
        mg_path(to, "%s/in/%s", b->scratch, trees[i]);
        status = need(from, "run make first");
        if (status == MT_OK)
            status = mg_copy_tree(to, from, ".o");
    }
    mg_path(from, "%s/libgiven.a", b->build);
    mg_path(to, "%s/in/libgiven.a", b->scratch);
    if (status == MT_OK)
        status = need(from, "run make first");
    return status == MT_OK ? mg_copy_file(to, from) : status;
}

mt_status mg_build_open(mg_build *b, const char *root, const char *build, const char *scratch, bool confined)
{
    char from[PATH_MAX], to[PATH_MAX];
    static const char *const folders[] = { "src", "obj", "in", "bin", "out" };
    *b = (mg_build){ .root = root, .build = build, .scratch = scratch, .confined = confined };
    mt_status status = need(mg_compiler, "install gcc");
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(folders); i++) {
        mg_path(to, "%s/%s", scratch, folders[i]);
        status = mg_folder(to, i >= 3);
    }
    mg_path(from, "%s/minitorch", root);
    mg_path(to, "%s/include", scratch);
    if (status == MT_OK)
        status = mg_copy_tree(to, from, ".h");
    if (status == MT_OK)
        status = mg_copy_tree(to, from, ".cuh");
    if (status == MT_OK)
        status = copy_prebuilt(b);
    return status == MT_OK ? mg_link_launcher(b) : status;
}

/* ---- units ---------------------------------------------------------------------------------- */

void mg_build_source(const mg_build *b, const char *id, char path[PATH_MAX])
{
    mg_path(path, "%s/src/%s", b->scratch, id);
}

static bool is_cuda(const char *unit)
{
    return strcmp(strchr(unit, '.'), ".cu") == 0;
}

/* The emulator's folder, copied, because the uid in the sandbox may not be allowed to read where it was built. */
mt_status mg_find_emulator(const mg_build *b, char folder[PATH_MAX])
{
    static const char *const parts[] = { "cuemu", "translate", "libcuemu.a" };
    char from[PATH_MAX], to[PATH_MAX];
    mg_path(folder, "%s/in/emu", b->scratch);
    if (access(folder, F_OK) == 0)
        return MT_OK;
    mg_path(from, "%s/emu/cuemu", b->build);
    mt_status status = need(from, "the emulator for .cu units: run make, with g++ installed");
    mg_path(from, "%s/emu", b->build);
    if (status == MT_OK)
        status = mg_copy_tree(folder, from, ".h");
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(parts); i++) {
        mg_path(from, "%s/emu/%s", b->build, parts[i]);
        mg_path(to, "%s/%s", folder, parts[i]);
        status = mg_copy_file(to, from);
    }
    return status;
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

/* For a unit identical to the reference's, use the reference's object: for a mutant in a lab of ten units only one is
 * compiled. The build keeps the source beside each object (Makefile; for .cu units traced/, cuda.mk). */
static bool reuse(const mg_build *b, const char *id, const char *source, const char *unit, const char *object)
{
    const char *tree = is_cuda(unit) ? "traced" : "units";
    char mine[PATH_MAX], theirs[PATH_MAX], made[PATH_MAX];
    mg_path(mine, "%s/%s", source, unit);
    mg_path(theirs, "%s/%s/%s/%s", b->build, tree, id, unit);
    mg_path(made, "%s/%s/%s/%.*s.o", b->build, tree, id, (int)strcspn(unit, "."), unit);
    return same(mine, theirs) && mg_copy_file(object, made) == MT_OK;
}

/* gcc, or the emulator's compiler, run in the folder of the sources, so that messages and __FILE__ contain "matmul.c".
 * A counted unit calls worker/traffic.c for each access; loops are not vectorised at -O1, so that is a call for each
 * element. */
static mt_status compile(const mg_build *b, const char *id, bool counted, const char *objects, const char *unit,
                         char *log, size_t size)
{
    char source[PATH_MAX];
    mg_build_source(b, id, source);
    char include[PATH_MAX], flag[PATH_MAX], object[PATH_MAX], emulator[PATH_MAX] = "", cuemu[PATH_MAX];
    mg_path(include, "%s/include", b->scratch);
    mg_path(flag, "-I%s", include);
    mg_path(object, "%s/%.*s.o", objects, (int)strcspn(unit, "."), unit);
    mt_status status = is_cuda(unit) ? mg_find_emulator(b, emulator) : MT_OK;
    if (status == MT_OK && !counted && reuse(b, id, source, unit, object))
        return MT_OK;
    mg_path(cuemu, "%s/cuemu", emulator);
    const char *const host[] = { mg_compiler, UNIT_FLAGS, flag,   "-c",
                                 unit,        "-o",       object, counted ? "-fsanitize=thread" : NULL,
                                 "-O1",       NULL };
    const char *const device[] = { cuemu, flag, "-Wall", "-fdiagnostics-color=never", "-c", unit, "-o", object, NULL };
    if (status != MT_OK)
        return status;
    mg_sandbox box = mg_tool_box(b, is_cuda(unit) ? device : host, source);
    box.readable[0] = include;
    box.readable[1] = source;
    box.readable[2] = emulator[0] ? emulator : NULL;
    box.writable[0] = objects;
    status = mg_run_tool(&box, unit, log, size);
    return status == MT_OK ? mg_is_plain(object) : status;
}

mt_status mg_build_units(mg_build *b, const mg_labinfo *info, char *log, size_t size)
{
    char objects[PATH_MAX];
    mg_path(objects, "%s/obj/%s", b->scratch, info->id);
    mt_status status = mg_folder(objects, true);
    for (int i = 0; status == MT_OK && i < info->units; i++) {
        if (is_cuda(info->unit[i]) && b->mines > 0)
            continue; /* of an earlier lab: only the workers of its own lab run .cu units */
        status = compile(b, info->id, false, objects, info->unit[i], log, size);
        b->cuda = b->cuda || is_cuda(info->unit[i]);
    }
    for (int i = 0; i < b->mines; i++)
        if (strcmp(b->mine[i], info->id) == 0)
            return status;
    if (status == MT_OK) {
        MT_CHECK(b->mines < MG_UNITS, "too many labs at once");
        strcpy(b->mine[b->mines++], info->id);
    }
    return status;
}

/* The C units of the graded lab once more, to be counted. */
mt_status mg_compile_counted(const mg_build *b, char *log, size_t size)
{
    char source[PATH_MAX], objects[PATH_MAX];
    mg_build_source(b, b->mine[0], source);
    mg_path(objects, "%s/obj/counted", b->scratch);
    mt_status status = mg_folder(objects, true);
    DIR *units = opendir(source);
    for (struct dirent *e; units && status == MT_OK && (e = readdir(units));)
        if (e->d_name[0] != '.' && !is_cuda(e->d_name))
            status = compile(b, b->mine[0], true, objects, e->d_name, log, size);
    if (units)
        closedir(units);
    return status;
}

bool mg_build_line(const mg_build *b, const char *worker, uint64_t pc, char *text, size_t size)
{
    char address[32], log[4096] = "", source[PATH_MAX];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)pc - 1); /* a return address is after its call */
    const char *const argv[] = { "/usr/bin/addr2line", "-i", "-e", worker, address, NULL };
    mg_sandbox box = mg_tool_box(b, argv, NULL);
    box.readable[0] = worker;
    if (mg_run_tool(&box, "addr2line", log, sizeof log) != MT_OK)
        return false;
    int n = snprintf(source, sizeof source, "%s/src/", b->scratch);
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) /* innermost frame first */
        if (strncmp(line, source, (size_t)n) == 0 && strchr(line + n, '/')) {
            snprintf(text, size, "%.*s", (int)strcspn(strchr(line + n, '/') + 1, " "), strchr(line + n, '/') + 1);
            return true;
        }
    return false;
}
