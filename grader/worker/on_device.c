/* on_device.c -- one call of a CUDA launcher on the emulator: arrays go to the device, the launcher runs, arrays come
 * back, and with them what the emulator counted and found (grader/rows/device.h reads it).
 *
 * Linked into the workers of CUDA labs only. Like the rest of the worker it is not trusted: the checker compares the
 * values, and refuses counts below the minimum. */
#include "worker/on_device.h"
#include "worker/device_calls.h"
#include "worker/values.h"
#include "sandbox/wire_device.h"

#include "emulator/count/counters.h"
#include "emulator/run/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before the emulator starts: little memory, one thread (so that float atomics have one order), no warnings about
 * leaks, and a barrier behind which threads have returned is an error. */
void __tsan_init(void);
__attribute__((constructor(101))) static void set_emulator(void)
{
    __tsan_init(); /* there is traced code; a unit's own constructor was removed (symbols.c) */
    clearenv();
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("CUEMU_MEMORY", "512", 1);
    setenv("CUEMU_THREADS", "1", 1);
    setenv("CUEMU_TIMEOUT", "5", 1);
    setenv("CUEMU_LEAKS", "0", 1);
    setenv("CUEMU_STRICT", "1", 1);
}

/* ---- arrays ----------------------------------------------------------------------------------- */

typedef struct array {
    void *host, *device;
    size_t bytes;
    size_t before; /* bytes of the device's block before the array; they have no value */
    bool input;
} array;

/* All begin 1, 2 or 3 elements behind a multiple of 16 bytes, not all at the same, or only one of the arrays does
 * (MG_OFF_ONE): half of the number is that of the array; an odd one is for 1 element, an even one for 2. */
static size_t bytes_before(const mg_wire_request *request, int i)
{
    size_t size = (size_t)mt_dtype_size(request->value[i].dtype);
    if (request->off < MG_OFF_ONE)
        return request->off == MG_OFF_ALL ? (size_t)(1 + i % 3) * size : 0;
    uint32_t number = request->off - MG_OFF_ONE, arrays = 0, earlier = 0;
    for (int k = 0; k < (int)request->count - 1; k++) /* without the report */
        arrays += mg_wire_is_array(&request->value[k]), earlier += mg_wire_is_array(&request->value[k]) && k < i;
    return number / 2 % arrays == earlier ? (2 - number % 2) * size : 0;
}

static void to_device(array *a)
{
    mg_need(cudaMalloc(&a->device, a->before + a->bytes + (a->bytes == 0)), "cudaMalloc");
    a->device = (char *)a->device + a->before;
    if (a->bytes)
        mg_need(cudaMemcpy(a->device, a->host, a->bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

/* Copy the outputs back, and compare the inputs with their contents before the call. */
static bool from_device(array *a)
{
    bool same = true;
    if (a->input) {
        char *now = malloc(a->bytes + 1);
        if (a->bytes && now) {
            mg_need(cudaMemcpy(now, a->device, a->bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
            same = memcmp(now, a->host, a->bytes) == 0;
        }
        free(now);
    } else if (a->bytes) {
        mg_need(cudaMemcpy(a->host, a->device, a->bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    mg_need(cudaFree((char *)a->device - a->before), "cudaFree");
    return same;
}

/* ---- the emulator's diagnostics --------------------------------------------------------------------- */

static uint64_t errors_so_far(void)
{
    const emu_finding *f;
    size_t count = emu_findings(&f);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += f[i].warning ? 0 : f[i].times;
    return sum;
}

/* Races and reads without a value follow from a barrier that some threads did not reach, races within a warp often from
 * one that is missing for the whole block. */
static int weight(const emu_finding *f)
{
    return f->kind == EMU_SYNC ? 4 : f->kind != EMU_RACE ? 3 : strstr(f->text, "__syncwarp()") ? 1 : 2;
}

/* The first error that occurred since `times` was recorded; for a race its cause, if that occurred too. Or the first
 * warning: a __shfl_down_sync that reads a lane that does not call it, whose value is undefined; else a race in which
 * all threads write one value. Other shuffles are errors, and so are barriers that were not reached (CUEMU_STRICT). */
static const emu_finding *newest(const uint64_t *times, size_t before, bool warning)
{
    const emu_finding *f, *best = NULL;
    size_t count = emu_findings(&f);
    for (size_t i = 0; i < count; i++) {
        bool is_new = f[i].warning == warning && (!warning || f[i].kind == EMU_SYNC || f[i].kind == EMU_RACE) &&
                      (i >= before || f[i].times > times[i]);
        if (is_new && (!best || ((f[i].kind == EMU_RACE || f[i].kind == EMU_SYNC) && weight(&f[i]) > weight(best))))
            best = &f[i];
    }
    return best;
}

static void write_place(mg_device_report *report, const emu_site *site)
{
    report->pc = site->pc;
    report->other = site->other;
    report->line = site->line;
    snprintf(report->file, sizeof report->file, "%s", site->file ? site->file : "");
}

static void write_finding(mg_device_report *report, const emu_finding *f)
{
    write_place(report, &f->site);
    snprintf(report->text, sizeof report->text, "%s", f->text);
    if (f->kernel)
        snprintf(report->where, sizeof report->where, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", f->kernel,
                 f->block.x, f->block.y, f->block.z, f->thread.x, f->thread.y, f->thread.z);
}

/* ---- the emulator's counts ----------------------------------------------------------------------------- */

static void add(mg_device_traffic *sum, const emu_traffic *t)
{
    sum->requests += (int64_t)t->requests;
    sum->lanes += (int64_t)t->lanes;
    sum->passes += (int64_t)t->passes;
    sum->ideal += (int64_t)t->ideal;
}

static void count(mg_device_report *report)
{
    for (int kind = 0; kind < 2; kind++) /* loads, stores */
        add(&report->global[kind], &mg_seen.copied[kind]);
    const emu_counts *all;
    size_t kernels = emu_counts_all(&all);
    for (size_t k = 0; k < kernels; k++) {
        for (int kind = 0; kind < 3; kind++) {
            add(&report->global[kind], &all[k].traffic[0][kind]);
            add(&report->shared[kind], &all[k].traffic[1][kind]);
        }
        report->launches += (int64_t)all[k].launches;
        report->blocks += (int64_t)all[k].blocks;
        report->busiest = mt_max(report->busiest, (int64_t)all[k].busiest);
        report->barriers += (int64_t)all[k].barriers;
    }
}

/* Keeps the sites with the most passes, in the order of the code. */
static void add_site(mg_device_report *report, const emu_counter *c)
{
    mg_device_site *least = &report->site[0];
    for (mg_device_site *s = report->site; s < report->site + MG_SITES; s++)
        if (s->passes < least->passes)
            least = s;
    if ((int64_t)c->passes <= least->passes || c->space > 1)
        return;
    size_t behind = (size_t)(report->site + MG_SITES - least) - 1;
    memmove(least, least + 1, behind * sizeof *least);
    report->site[MG_SITES - 1] = (mg_device_site){ c->pc,
                                                   c->kind,
                                                   c->space,
                                                   c->size,
                                                   0,
                                                   (int64_t)c->requests,
                                                   (int64_t)c->lanes,
                                                   (int64_t)c->passes,
                                                   (int64_t)c->ideal };
}

static void add_sites(mg_device_report *report)
{
    const emu_counts *all;
    size_t kernels = emu_counts_all(&all);
    for (size_t k = 0; k < kernels; k++)
        for (size_t i = 0; i < all[k].site_count; i++)
            add_site(report, &all[k].sites[i]);
    size_t free = 0;
    while (free < MG_SITES && !report->site[free].requests)
        free++;
    memmove(report->site, report->site + free, (MG_SITES - free) * sizeof report->site[0]);
    memset(report->site + MG_SITES - free, 0, free * sizeof report->site[0]);
}

/* The request whose banks the grade's page draws. */
static void add_drawn(mg_device_report *report)
{
    emu_counter c;
    uint64_t address[32], least = UINT64_MAX;
    int lane[32], count = emu_kept_shared(&c, address, lane);
    for (int i = 0; i < count; i++)
        least = address[i] < least ? address[i] : least;
    for (int i = 0; i < count; i++) {
        report->lanes |= 1u << lane[i];
        report->offset[lane[i]] = (uint32_t)(address[i] - (least & ~127ull)); /* bank 0 is at a multiple of 128 */
    }
    if (count)
        report->drawn =
            (mg_device_site){ c.pc, c.kind, c.space, c.size, 0, 1, count, (int64_t)c.passes, (int64_t)c.ideal };
}

/* ---- memory that a unit keeps -------------------------------------------------------------------------- */

static size_t free_memory(void)
{
    size_t left, total;
    mg_need(cudaMemGetInfo(&left, &total), "cudaMemGetInfo");
    return left;
}

/* After a call whose arrays are freed; after an error they are not, and the device cannot be asked. */
static void find_kept(mg_device_report *report, size_t before)
{
    mg_keeps = mg_keeps || report->failed || report->errors > 0;
    size_t now = mg_keeps ? before : free_memory();
    if (now >= before)
        return;
    report->failed = true;
    snprintf(report->text, sizeof report->text,
             "%zu bytes of device memory that the call allocated are not free after it\nhint: a launcher allocates "
             "nothing: what kernels need beyond their operands, the caller gives",
             before - now);
}

/* ---- the call ------------------------------------------------------------------------------------ */

/* A separate function, because a longjmp over it makes its variables indeterminate. */
static __attribute__((noinline)) cudaError_t launch(const mg_function *function, const mg_value *values)
{
    mg_seen = (mg_device_calls){ .unit_runs = true, .grids_only = function->grids_only };
    if (!setjmp(mg_after_error))
        function->call(values);
    mg_seen.unit_runs = false;
    return cudaDeviceSynchronize();
}

/* The number of occurrences of each diagnostic before the call. */
static size_t remember(uint64_t *times, size_t room)
{
    const emu_finding *f;
    size_t known = emu_findings(&f);
    for (size_t i = 0; i < known && i < room; i++)
        times[i] = f[i].times;
    return known;
}

void mg_on_device(const mg_function *function, mg_value *values, const mg_wire_request *request)
{
    int last = (int)request->count - 1;
    mg_device_report *report = values[last].ptr;
    mg_value moved[MG_WIRE_VALUES + 1];
    array arrays[MG_WIRE_VALUES] = { { 0 } };
    uint64_t times[256], before = errors_so_far();
    size_t known = remember(times, MT_COUNT(times)), room = free_memory();
    memcpy(moved, values, sizeof moved);
    for (int i = 0; i < last; i++) {
        const mg_wire_value *wire = &request->value[i];
        arrays[i] = (array){ values[i].ptr, NULL, wire->bytes, bytes_before(request, i), wire->kind == MG_IN };
        if (mg_wire_is_array(wire) && strcmp(wire->name, "aborted") != 0) {
            to_device(&arrays[i]);
            moved[i].ptr = arrays[i].device;
        }
    }
    mg_values_end(moved, request);
    set_emulator(); /* what the emulator reads later, too, is not a unit's to choose */
    emu_reversed = !request->at_end;
    emu_counts_reset();
    emu_keep_requests = true;
    emu_forget_requests();
    cudaError_t error = launch(function, moved);
    *report = (mg_device_report){ .changed = -1, .failed = error != cudaSuccess };
    count(report);
    add_sites(report);
    add_drawn(report);
    for (int i = 0; i < last && error == cudaSuccess; i++)
        if (arrays[i].device && !from_device(&arrays[i]) && report->changed < 0)
            report->changed = i;
    report->errors = (int64_t)(errors_so_far() - before);
    report->library = mg_seen.library;
    report->failed = report->failed || mg_seen.copied_back || mg_seen.copies > MG_MOST_COPIES || mg_seen.strayed;
    report->waited = mg_seen.waited;
    if (mg_seen.unchecked)
        snprintf(report->unchecked, sizeof report->unchecked, "%s:%d", mg_seen.launched.file, mg_seen.launched.line);
    if (mg_seen.strayed) {
        write_place(report, &mg_seen.astray);
        snprintf(report->text, sizeof report->text,
                 "a launch outside of mt_cuda_stream()\nhint: kernel<<<blocks, threads, 0, mt_cuda_stream()>>>(...); "
                 "cuBLAS by mt_cublas()");
    } else if (mg_seen.copied_back)
        snprintf(report->text, sizeof report->text, "cudaMemcpy to the host: a unit computes on the device");
    else if (mg_seen.copies > MG_MOST_COPIES)
        snprintf(report->text, sizeof report->text,
                 "more than %d copies and memsets in one call: kernels move elements and rows", MG_MOST_COPIES);
    else if ((report->errors || !report->failed) && newest(times, known, !report->errors))
        write_finding(report, newest(times, known, !report->errors));
    else if (error != cudaSuccess)
        snprintf(report->text, sizeof report->text, "%s", cudaGetErrorString(error));
    find_kept(report, room);
}
