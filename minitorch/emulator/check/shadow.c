/* shadow.c -- the state of each byte of memory: unallocated, uninitialised or initialised.
 *
 * A state is one byte, so that several workers may write adjacent ones. A hook compares the states of an access with
 * "all initialised" in one instruction; only other accesses are passed on to this file, to be marked or reported.
 * Errors end the kernel as they would on a GPU; an uninitialised read does not, and its bytes count as initialised
 * afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "emulator/check/shadow.h"
#include "emulator/check/stream_race.h"
#include "emulator/run/hooks.h"
#include "emulator/run/shared.h"

#define NULL_PAGES 65536 /* addresses below are null pointers with an index */

uint8_t *emu_device_state;
bool emu_writes_unseen;

/* The sections of __device__, __managed__ and __constant__ variables; a section that the program lacks is empty. */
#define SECTION(NAME) extern char __start_##NAME[] __attribute__((weak)), __stop_##NAME[] __attribute__((weak));
SECTION(cuemu_device)
SECTION(cuemu_managed)
SECTION(cuemu_constant)
extern char __data_start[] __attribute__((weak)), end[] __attribute__((weak));

static void allocated(emu_allocation *a)
{
    memset(emu_device_state + (a->begin - emu_arena), a->home == EMU_DEVICE ? EMU_EMPTY : EMU_FULL, a->size);
    emu_stream_race_forget(a);
}

static void freed(emu_allocation *a)
{
    memset(emu_device_state + (a->begin - emu_arena), EMU_NO_MEMORY, a->size);
}

static void written(const void *begin, size_t size)
{
    if ((uintptr_t)begin - (uintptr_t)emu_arena < emu_arena_size)
        memset(emu_device_state + ((const char *)begin - emu_arena), EMU_FULL, size);
}

static void host_read(const void *begin, size_t size, uintptr_t pc)
{
    const uint8_t *state = emu_device_state + ((const char *)begin - emu_arena);
    const uint8_t *empty = emu_writes_unseen ? NULL : memchr(state, EMU_EMPTY, size);
    char where[300];
    if (!empty)
        return;
    emu_error(EMU_UNINITIALISED, (emu_site){ .pc = pc },
              "uninitialised read: this call reads %s, where nothing was written\n"
              "hint: cudaMalloc does not clear memory: call cudaMemset, or write it first",
              emu_describe(where, sizeof where, (uintptr_t)begin + (uintptr_t)(empty - state)));
}

void emu_shadow_open(void)
{
    if (emu_device_state)
        return;
    emu_arena_reserve();
    emu_device_state =
        mmap(NULL, emu_arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (emu_device_state == MAP_FAILED) {
        perror("cuemu: no address space for the states of device memory");
        exit(2);
    }
    emu_hook.allocated = allocated;
    emu_hook.freed = freed;
    emu_hook.host_write = written;
    emu_hook.host_read = host_read;
    emu_stream_race_open();
}

void emu_shadow_begin_block(emu_tracer *t)
{
    memset(t->shared_state, EMU_NO_MEMORY, t->shared_used[0]);
    memset(t->shared_state + EMU_SHARED_DYNAMIC, EMU_NO_MEMORY, t->shared_used[1]);
    t->shared_used[0] = t->shared_used[1] = 0;
}

/* ---- where an address is ----------------------------------------------------------------------------------------- */

static bool within(uintptr_t address, const char *begin, const char *stop)
{
    return address - (uintptr_t)begin < (uintptr_t)(stop - begin);
}

/* The variables' first address, rounded down so that words stay aligned. */
static uintptr_t first_variable(void)
{
    return (uintptr_t)__data_start & ~(uintptr_t)63;
}

size_t emu_position(uintptr_t address)
{
    size_t offset = address - (uintptr_t)emu_arena;
    return offset < emu_arena_size ? offset : emu_arena_size + (address - first_variable());
}

uintptr_t emu_address_at(size_t position)
{
    return position < emu_arena_size ? (uintptr_t)emu_arena + position : first_variable() + (position - emu_arena_size);
}

size_t emu_positions(void)
{
    return emu_arena_size + ((uintptr_t)end - first_variable());
}

static const char *describe_shared(char *text, size_t size, size_t offset)
{
    emu_shared_place place;
    const emu_worker *worker = emu_tracing ? emu_tracing->worker : NULL;
    if (!worker || !emu_shared_find(worker, offset, &place))
        snprintf(text, size, "shared memory + %zu bytes", offset);
    else
        snprintf(text, size, "%s + %zu bytes", place.array ? place.array->name : "dynamic shared memory",
                 offset - place.begin);
    return text;
}

const char *emu_at_line(char *text, size_t size, uintptr_t pc)
{
    const char *file;
    int line;
    text[0] = 0;
    if (emu_source(pc, &file, &line))
        snprintf(text, size, " at %s:%d", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
    return text;
}

/* "the 4096 bytes of cudaMalloc at unit.cu:30" */
static const char *name_allocation(char *text, size_t size, const emu_allocation *a)
{
    static const char *const maker[] = { "cudaMalloc", "cudaMallocManaged", "cudaMallocHost" };
    char line[200];
    snprintf(text, size, "the %zu bytes of %s%s", a->size, maker[a->home], emu_at_line(line, sizeof line, a->made));
    return text;
}

const char *emu_describe(char *text, size_t size, uintptr_t address)
{
    const emu_worker *worker = emu_tracing ? emu_tracing->worker : NULL;
    if (worker && within(address, worker->shared, worker->shared + EMU_SHARED_SPAN))
        return describe_shared(text, size, address - (uintptr_t)worker->shared);
    const emu_allocation *a = emu_find((void *)address);
    char name[300];
    if (a)
        snprintf(text, size, "byte %zu of %s", (size_t)(address - (uintptr_t)a->begin),
                 name_allocation(name, sizeof name, a));
    else
        snprintf(text, size, "a __device__ variable");
    return text;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static const char *const did[] = { "load", "store", "atomic update" };

bool emu_reported(emu_tracer *t, const emu_thread *thread, emu_kind kind, uintptr_t pc, bool warning)
{
    emu_site site = { .pc = pc };
    uint64_t order = t->worker->order; /* the first block's finding is the one that is shown */
    for (int i = 0; i < t->reported_count; i++) {
        if (t->reported[i].order > order || t->reported[i].pc != pc || t->reported[i].kind != kind ||
            t->reported[i].warning != warning)
            continue;
        if (warning)
            emu_warning_of(thread, kind, site, "again");
        else
            emu_error_of(thread, kind, site, "again");
        return true;
    }
    if (t->reported_count < (int)(sizeof t->reported / sizeof t->reported[0]))
        t->reported[t->reported_count++] =
            (struct emu_reported){ .kind = kind, .pc = pc, .order = order, .warning = warning };
    return false;
}

static emu_site at(uintptr_t pc)
{
    return (emu_site){ .pc = pc };
}

void emu_misaligned(uintptr_t address, int alignment, uintptr_t pc)
{
    static const char *const types[] = { "a byte", "a half or a short", "an int or a float", "a double or a float2",
                                         "a float4 or a double2" };
    char where[300];
    emu_error(
        EMU_MISALIGNED, at(pc),
        "misaligned access: %d bytes at an address that is not a multiple of %d: %s\n"
        "hint: %s starts at a multiple of %d bytes: test the array's address and the offset, pad rows to multiples of "
        "%d bytes, or load smaller elements",
        alignment, alignment, emu_describe(where, sizeof where, address),
        alignment > 16 ? "such a struct" : types[__builtin_ctz((unsigned)alignment)], alignment, alignment);
    emu_kill(cudaErrorMisalignedAddress);
}

static void report_freed(const emu_allocation *a, uintptr_t address, int size, int kind, uintptr_t pc)
{
    char name[300], line[200];
    emu_error(EMU_USE_AFTER_FREE, at(pc),
              "use after free: %s of %d bytes at byte %zu of %s, freed%s\n"
              "hint: launches are asynchronous: free memory after the last kernel that uses it",
              did[kind], size, (size_t)(address - (uintptr_t)a->begin), name_allocation(name, sizeof name, a),
              emu_at_line(line, sizeof line, a->released));
}

static void report_outside(uintptr_t address, int size, int kind, uintptr_t pc)
{
    char name[300];
    const emu_allocation *a = emu_nearest((void *)address);
    if (!a) {
        emu_error(EMU_OUT_OF_BOUNDS, at(pc), "out of bounds: %s of %d bytes where nothing is allocated", did[kind],
                  size);
        return;
    }
    intptr_t from_begin = (intptr_t)(address - (uintptr_t)a->begin), past = from_begin - (intptr_t)a->size;
    char where[64];
    if (from_begin < 0)
        snprintf(where, sizeof where, "%zd bytes before", (ssize_t)-from_begin);
    else if (past > 0)
        snprintf(where, sizeof where, "%zd bytes past the end of", (ssize_t)past);
    else
        snprintf(where, sizeof where, past ? "across the end of" : "immediately after the end of");
    emu_error(EMU_OUT_OF_BOUNDS, at(pc), "out of bounds: %s of %d bytes, %s %s\nhint: %s", did[kind], size, where,
              name_allocation(name, sizeof name, a),
              from_begin < 0 ? "the index is negative: an int that overflowed, or a missing lower bound"
              : past < 0
                  ? "all its bytes must lie inside: test i + 4 <= n for a float4, and take the last elements one by one"
                  : "is the index right? Threads beyond the last element must do nothing: if (i < n)");
}

/* 16 states at most: does any byte have the state? */
static bool any(const uint8_t *state, int size, uint8_t which)
{
    return memchr(state, which, (size_t)size) != NULL;
}

/* Can the uninitialised bytes be padding of a struct, which is not written when its members are written one by one?
 * They are if they follow an initialised byte and end at an alignment boundary. A struct of 8 bytes has no member with
 * an alignment of 8. */
static bool only_padding(const uint8_t *state, uintptr_t address, int size, bool part_of_struct)
{
    int most = part_of_struct ? 8 : size / 2;
    for (int i = 0, run; i < size; i += run ? run : 1) {
        for (run = 0; i + run < size && state[i + run] == EMU_EMPTY; run++)
            ;
        int boundary = run > 3 ? 8 : run > 1 ? 4 : 2;
        bool ends = (address + (unsigned)(i + run)) % (unsigned)boundary == 0;
        if (run && (run > 7 || boundary > most || !ends || state[i - 1] != EMU_FULL))
            return false;
    }
    return true;
}

void emu_check_global(uintptr_t address, int size, int kind, uintptr_t pc)
{
    uint8_t *state = emu_device_state + (address - (uintptr_t)emu_arena);
    if (any(state, size, EMU_NO_MEMORY)) {
        const emu_allocation *a = emu_find((void *)address);
        if (a && a->freed && address - (uintptr_t)a->begin < a->size)
            report_freed(a, address, size, kind, pc);
        else
            report_outside(address, size, kind, pc);
        emu_kill(cudaErrorIllegalAddress);
    }
    if (kind != EMU_STORE && !emu_writes_unseen && !only_padding(state, address, size, emu_tracing->in_struct) &&
        !emu_reported(emu_tracing, emu_self, EMU_UNINITIALISED, pc, false)) {
        char where[300];
        emu_error(EMU_UNINITIALISED, at(pc),
                  "uninitialised read: nothing was written to %s\nhint: cudaMalloc does not clear memory: call "
                  "cudaMemset, or "
                  "write it first",
                  emu_describe(where, sizeof where, address));
    }
    memset(state, EMU_FULL, (size_t)size);
}

static void report_outside_shared(const emu_worker *worker, size_t offset, int size, int kind, uintptr_t pc)
{
    emu_shared_place place;
    emu_shared_find(worker, offset, &place);
    size_t stop = place.begin + place.size, past = offset < stop ? 0 : offset - stop;
    char where[64] = "immediately after the end of";
    if (past || offset < stop)
        snprintf(where, sizeof where, past ? "%zu bytes past the end of" : "across the end of", past);
    if (place.array)
        emu_error(EMU_OUT_OF_BOUNDS, at(pc),
                  "out of bounds: %s of %d bytes, %s shared array %s (%zu bytes, declared at line %d)\n"
                  "hint: which threads may access it, and does it have an element for each index?",
                  did[kind], size, where, place.array->name, place.size, place.array->line);
    else
        emu_error(EMU_OUT_OF_BOUNDS, at(pc),
                  "out of bounds: %s of %d bytes, %zu bytes past the %zu bytes of %s shared memory\nhint: %s",
                  did[kind], size, past, place.size, offset < EMU_SHARED_DYNAMIC ? "static" : "dynamic",
                  "the third number of <<< >>> is the size in bytes");
    emu_kill(cudaErrorIllegalAddress);
}

/* At a block's first access to one of its arrays: marks the array's bytes as uninitialised. */
static void open_place(emu_tracer *t, const emu_shared_place *place)
{
    memset(t->shared_state + place->begin, EMU_EMPTY, place->size);
    bool dynamic = place->begin >= EMU_SHARED_DYNAMIC;
    size_t stop = place->begin + place->size - (dynamic ? EMU_SHARED_DYNAMIC : 0);
    if (stop > t->shared_used[dynamic])
        t->shared_used[dynamic] = stop;
}

void emu_check_shared(emu_tracer *t, uintptr_t address, int size, int kind, uintptr_t pc)
{
    size_t offset = address - (uintptr_t)t->worker->shared;
    uint8_t *state = t->shared_state + offset;
    if (any(state, size, EMU_NO_MEMORY)) {
        emu_shared_place place;
        bool inside = emu_shared_find(t->worker, offset, &place);
        if (!inside || offset + (size_t)size > place.begin + place.size)
            report_outside_shared(t->worker, offset, size, kind, pc);
        open_place(t, &place);
    }
    if (kind != EMU_STORE && !only_padding(state, address, size, t->in_struct) &&
        !emu_reported(t, emu_self, EMU_UNINITIALISED, pc, false)) {
        char where[300];
        emu_error(EMU_UNINITIALISED, at(pc),
                  "uninitialised read: no thread of this block has written %s\n"
                  "hint: shared memory is not initialised: is the whole array written, and is there a __syncthreads() "
                  "after?",
                  emu_describe(where, sizeof where, address));
    }
    memset(state, EMU_FULL, (size_t)size);
}

/* Has the page ever been used? (The emulator reserves far more addresses than it uses.) */
static bool is_used(uintptr_t address)
{
    unsigned char resident;
    return !mincore((void *)(address & ~(uintptr_t)4095), 1, &resident) && resident & 1;
}

int emu_check_elsewhere(uintptr_t address, int size, int kind, uintptr_t pc)
{
    if (within(address, __start_cuemu_device, __stop_cuemu_device) ||
        within(address, __start_cuemu_managed, __stop_cuemu_managed))
        return EMU_GLOBAL;
    if (emu_is_registered((const void *)address, (size_t)size))
        return EMU_NOWHERE;
    bool constant = within(address, __start_cuemu_constant, __stop_cuemu_constant);
    bool code = within(address, __executable_start, __data_start);
    if (kind == EMU_LOAD && (constant || code))
        return constant ? EMU_CONSTANT : EMU_NOWHERE; /* tables and strings that the compiler placed beside the code */
    if (!constant && address >= NULL_PAGES && !is_used(address)) {
        emu_error(EMU_OUT_OF_BOUNDS, at(pc),
                  "out of bounds: %s of %d bytes at %p, far from any allocation\n"
                  "hint: an int index that overflowed? Compute it as int64_t or size_t",
                  did[kind], size, (void *)address);
        emu_kill(cudaErrorIllegalAddress);
    }
    const char *what = constant               ? "__constant__ memory, which kernels cannot write"
                       : address < NULL_PAGES ? "a null pointer"
                       : within(address, __executable_start, end)
                           ? "a variable of the host: declare it __device__, or pass its value"
                           : "a host pointer: kernels see only cudaMalloc's memory";
    emu_error(EMU_BAD_POINTER, at(pc), "bad pointer: %s of %d bytes at %p: %s\nhint: %s", did[kind], size,
              (void *)address, what,
              address < NULL_PAGES ? "did cudaMalloc fail? Check every call"
                                   : "copy the data with cudaMemcpy and pass the device pointer");
    emu_kill(cudaErrorIllegalAddress);
    return EMU_NOWHERE;
}
