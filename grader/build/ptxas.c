/* ptxas.c -- compiles a unit with nvcc in the sandbox, and reads PTX and what ptxas -v says. Occupancy is by the
 * formula of the CUDA calculator: registers are allocated to warps in units of 256, shared memory in units of 128
 * bytes, and 1 KB is the system's.
 *
 * nvcc takes a second or two, so the figures are kept (kept.h). */
#include "build/ptxas.h"
#include "build/kept.h"
#include "build/tools.h"
#include "rows/run.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For one architecture, over all kernels of the unit: sums of instruction counts, and maxima of the other figures. */
typedef struct facts {
    int arch;
    int kernels, registers, local, spilled, shared, threads;
    int blocks; /* of the kernel of which the fewest fit on a multiprocessor */
    int wide_loads, async_copies, tensor;
} facts;

/* Bytes of a thread outside of its registers. An array whose index is not known is in local memory as a whole; a right
 * unit may spill some registers, which cost less. */
enum { ARCHS = 2, LOG_SIZE = 8192, MOST_LOCAL = 32, MOST_SPILLED = 128, DEFAULT_THREADS = 256 };
static const struct {
    int arch, shared; /* bytes of a multiprocessor */
} archs[ARCHS] = { { 80, 164 << 10 }, { 90, 228 << 10 } };

/* ---- nvcc ------------------------------------------------------------------------------------ */

static const char *find_nvcc(void)
{
    static const char *const places[] = { "/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc", "/usr/lib/cuda/bin/nvcc" };
    for (int64_t i = 0; i < MT_COUNT(places); i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* Compile a unit; *alone becomes false for one that includes others of its folder, whose figures may not be kept. */
static mt_status compile(const mg_build *b, const char *id, const char *nvcc, const char *unit, int arch,
                         const char *folder, bool *alone, char *log, size_t size)
{
    char source[PATH_MAX], readable[PATH_MAX], include[PATH_MAX], flag[PATH_MAX], object[PATH_MAX], target[32];
    mg_build_source(b, id, source);
    mg_path(readable, "%s/%s", source, *alone ? unit : "");
    mg_path(include, "%s/include", b->scratch);
    mg_path(flag, "-I%s", include);
    mg_path(object, "%s/unit.cubin", folder);
    snprintf(target, sizeof target, "-arch=sm_%d", arch);
    // clang-format off
    const char *const argv[] = { nvcc, "-std=c++17", "-D_GNU_SOURCE", "--extended-lambda", "--expt-relaxed-constexpr",
                                 "-O3", flag, "-w", "-cubin", target, "-Xptxas", "-v", "--keep", "--keep-dir", folder,
                                 "-o", object, unit, NULL };
    // clang-format on
    mg_sandbox box = mg_tool_box(b, argv, source);
    box.readable[0] = include;
    box.readable[1] = readable;
    box.writable[0] = folder;
    mt_status status = mg_run_tool(&box, unit, NULL, log, size);
    if (status != MT_ERR_FORMAT || !*alone || !strstr(log, "No such file"))
        return status;
    *alone = false;
    return compile(b, id, nvcc, unit, arch, folder, alone, log, size);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* The number before or after a word of ptxas, in a line; 0 if it is not there. */
static int number_before(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    while (at && at > line && at[-1] == ' ')
        at--;
    while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at ? atoi(at) : 0;
}

/* Blocks of a kernel that fit on a multiprocessor. */
static int occupancy(int registers, int shared, int threads, int room)
{
    int warps = (threads + 31) / 32, of_warp = (registers * 32 + 255) / 256 * 256;
    int by_registers = of_warp ? 65536 / of_warp / warps : 32, by_threads = 64 / warps;
    int by_shared = room / ((shared + 1024 + 127) / 128 * 128);
    int blocks = by_registers < by_threads ? by_registers : by_threads;
    blocks = blocks < by_shared ? blocks : by_shared;
    return blocks < 32 ? blocks : 32;
}

/* ".maxntid 256" of the kernel `name`: the block that __launch_bounds__ allows. */
static int block_of(const char *ptx, const char *name)
{
    char head[300];
    snprintf(head, sizeof head, ".entry %s(", name);
    const char *at = strstr(ptx, head), *body = at ? strchr(at, '{') : NULL;
    const char *bound = at ? strstr(at, ".maxntid ") : NULL;
    int threads = bound && body && bound < body ? atoi(bound + 9) : DEFAULT_THREADS;
    return threads >= 1 && threads <= 1024 ? threads : DEFAULT_THREADS; /* inline assembly can write anything here */
}

/* "Compiling entry function 'x'", "16 bytes stack frame, 24 bytes spill stores", "Used 128 registers, 8448 bytes
 * smem" */
static void read_ptxas(facts *f, char *log, const char *ptx, int room)
{
    char name[256] = "", *rest = log;
    for (char *line; (line = strtok_r(rest, "\n", &rest));) {
        char *entry = strstr(line, "entry function '");
        if (entry)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(entry + 16, "'"), entry + 16);
        int local = number_before(line, "bytes stack frame"), spilled = number_before(line, "bytes spill stores");
        f->local = local > f->local ? local : f->local;
        f->spilled = spilled > f->spilled ? spilled : f->spilled;
        if (!strstr(line, ": Used "))
            continue;
        int registers = number_before(line, "registers"), shared = number_before(line, "bytes smem");
        int threads = block_of(ptx, name), blocks = occupancy(registers, shared, threads, room);
        f->registers = registers > f->registers ? registers : f->registers;
        f->shared = shared > f->shared ? shared : f->shared;
        f->threads = threads > f->threads ? threads : f->threads;
        f->blocks = f->kernels++ && f->blocks < blocks ? f->blocks : blocks;
    }
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static void read_ptx(facts *f, const char *ptx)
{
    for (const char *line = ptx; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *op = line + strspn(line, " \t");
        op += *op == '@' ? strcspn(op, " \t") : 0; /* @%p1 */
        op += strspn(op, " \t");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(op, " \t\n"), op);
        bool four =
            strstr(word, ".v4.f32") || strstr(word, ".v4.u32") || strstr(word, ".v4.b32") || strstr(word, ".v4.s32");
        bool two =
            strstr(word, ".v2.f64") || strstr(word, ".v2.u64") || strstr(word, ".v2.b64") || strstr(word, ".b128");
        f->wide_loads += begins(word, "ld.global") && (four || two);
        f->async_copies +=
            begins(word, "cp.async.ca.") || begins(word, "cp.async.cg.") || begins(word, "cp.async.bulk");
        f->tensor += begins(word, "wmma.mma.") || begins(word, "mma.sync.") || begins(word, "wgmma.mma_async");
    }
}

/* ---- what is known already --------------------------------------------------------------------- */

static bool recall(const char *text, facts *f)
{
    int read = 0;
    return sscanf(text, "%d %d %d %d %d %d %d %d %d %d %d\n%n", &f->arch, &f->kernels, &f->registers, &f->local,
                  &f->spilled, &f->shared, &f->threads, &f->blocks, &f->wide_loads, &f->async_copies, &f->tensor,
                  &read) == 11 &&
           read > 0;
}

static void remember(const facts *f, char *text, size_t size)
{
    snprintf(text, size, "%d %d %d %d %d %d %d %d %d %d %d\n", f->arch, f->kernels, f->registers, f->local, f->spilled,
             f->shared, f->threads, f->blocks, f->wide_loads, f->async_copies, f->tensor);
}

/* ---- the facts of a unit ------------------------------------------------------------------------ */

static mt_status measure(const mg_build *b, const char *id, const char *nvcc, const char *unit, int room, facts *f,
                         bool *alone, char log[LOG_SIZE])
{
    char folder[PATH_MAX], path[PATH_MAX];
    mg_path(folder, "%s/obj/ptxas/%d", b->scratch, f->arch);
    mt_status status = mg_folder(folder, true);
    if (status == MT_OK)
        status = compile(b, id, nvcc, unit, f->arch, folder, alone, log, LOG_SIZE);
    mg_path(path, "%s/%.*s.ptx", folder, (int)strcspn(unit, "."), unit);
    if (status == MT_OK)
        status = mg_is_plain(path);
    char *ptx = status == MT_OK ? mg_read_text(path) : NULL;
    if (ptx) {
        read_ptx(f, ptx);
        read_ptxas(f, log, ptx, room);
    }
    free(ptx);
    return status;
}

/* For an architecture of `archs`. */
static mt_status facts_of(const mg_build *b, const char *id, const char *nvcc, const char *unit, int which, facts *f,
                          char log[LOG_SIZE])
{
    char source[PATH_MAX], text[256], how[32];
    bool alone = true;
    mg_path(source, "labs/%s/%s", id, unit);
    snprintf(how, sizeof how, "ptxas%d", archs[which].arch);
    if (mg_kept_take(b, how, source, NULL, text, sizeof text) && recall(text, f))
        return MT_OK;
    *f = (facts){ .arch = archs[which].arch };
    mt_status status = measure(b, id, nvcc, unit, archs[which].shared, f, &alone, log);
    if (status == MT_OK && alone) {
        remember(f, text, sizeof text);
        mg_kept_put(b, how, source, NULL, text);
    }
    return status;
}

/* For all architectures, at once. On failure `log` and the last error are those of the first that failed. */
static mt_status all_facts(const mg_build *b, const char *id, const char *nvcc, const char *unit, facts f[ARCHS],
                           char log[LOG_SIZE])
{
    char said[ARCHS][LOG_SIZE] = { 0 }, why[ARCHS][1024];
    mt_status status[ARCHS];
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < ARCHS; i++) {
        status[i] = facts_of(b, id, nvcc, unit, i, &f[i], said[i]);
        snprintf(why[i], sizeof why[i], "%s", mt_last_error());
    }
    for (int i = 0; i < ARCHS; i++) {
        if (status[i] == MT_OK)
            continue;
        memcpy(log, said[i], LOG_SIZE);
        return mt_fail(status[i], "%s", why[i]);
    }
    return MT_OK;
}

/* ---- the row ------------------------------------------------------------------------------------- */

static bool holds(const facts *f, mg_fact fact)
{
    switch (fact) {
    case MG_WIDE_LOADS:
        return f->wide_loads > 0;
    case MG_LOCAL_MEMORY:
        return f->local - f->spilled <= MOST_LOCAL && f->spilled <= MOST_SPILLED;
    case MG_TWO_BLOCKS:
        return f->blocks >= 2;
    case MG_ASYNC_COPIES:
        return f->async_copies > 0;
    case MG_TENSOR_CORES:
        return f->tensor > 0;
    }
    return false;
}

static void describe(const facts *f, mg_fact fact, char *text, size_t size)
{
    switch (fact) {
    case MG_WIDE_LOADS:
        snprintf(text, size, "sm_%d: %d loads of 16 bytes", f->arch, f->wide_loads);
        return;
    case MG_LOCAL_MEMORY:
        snprintf(text, size,
                 "sm_%d: %d registers, %d bytes of local memory, %d spilled (at most %d besides %d spilled)", f->arch,
                 f->registers, f->local, f->spilled, MOST_LOCAL, MOST_SPILLED);
        return;
    case MG_TWO_BLOCKS:
        snprintf(text, size, "sm_%d: %d blocks of %d threads, %d registers, %d bytes shared: occupancy %d %%", f->arch,
                 f->blocks, f->threads, f->registers, f->shared, 100 * f->blocks * f->threads / 2048);
        return;
    case MG_ASYNC_COPIES:
        snprintf(text, size, "sm_%d: %d cp.async", f->arch, f->async_copies);
        return;
    case MG_TENSOR_CORES:
        snprintf(text, size, "sm_%d: %d tensor-core instructions", f->arch, f->tensor);
        return;
    }
}

void mg_compiled_fact(mg_run *run, const char *unit, mg_fact fact)
{
    facts f[ARCHS];
    char log[LOG_SIZE] = "", text[ARCHS][120];
    const char *nvcc = find_nvcc();
    const mg_bench *bench = run->bench;
    if (!nvcc) {
        mg_note(run, "not compiled for a GPU: there is no nvcc");
        return;
    }
    mt_status status = all_facts(&bench->build, bench->info.id, nvcc, unit, f, log);
    if (status != MT_OK) {
        mg_hint(run, "the emulator compiles this unit, but nvcc does not: see its message");
        mg_judge(run, status == MT_ERR_UNAVAILABLE ? MG_ERROR : MG_FAIL, "nvcc: %s\n%.600s", mt_last_error(), log);
        return;
    }
    for (int i = 0; i < ARCHS; i++)
        describe(&f[i], fact, text[i], sizeof text[i]);
    if (holds(&f[0], fact) && holds(&f[1], fact))
        mg_note(run, "%s; %s  by nvcc, not run", text[0], text[1]);
    else
        mg_fail(run, "%s as nvcc compiles it: %s; %s", unit, text[0], text[1]);
}
