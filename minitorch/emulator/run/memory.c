/* memory.c -- device memory: one range of addresses, the arena, and for every 256 bytes of it the owning allocation.
 *
 * Freed memory is reused only when no unused memory is left or QUARANTINE bytes have been freed, so that a use after
 * free is recognised; the table says where it was freed. Uninitialised memory is filled with ones: NaN in every float
 * type. Between kernels the device's part is unreadable: host code that dereferences a device pointer faults, and
 * fault.c reports it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "emulator/run/hooks.h"
#include "emulator/run/setting.h"
#include "emulator/run/status.h"

#define GAP        EMU_GRANULE /* bytes after each allocation, at least, that belong to none */
#define FILL       0xff
#define QUARANTINE ((size_t)256 << 20) /* bytes of freed memory that are kept before the oldest are reused */
#define PAGE       ((uintptr_t)4096)
#define LARGE      ((size_t)1 << 20) /* freed memory of this size is returned to the system, and reads as 0 */

char *emu_arena;
size_t emu_arena_size;

/* Only the first so many bytes of device memory are made unreadable for the host: each page costs 0.4 us at the begin
 * and at the end of every launch. */
#define CHECKED ((size_t)4 << 20)

static size_t device_span; /* bytes of the device; as many addresses for managed and pinned memory follow */
static size_t top[2] = { EMU_GRANULE }; /* where the unused memory of the device and of the host begins */
static uint32_t *owner;                 /* of a granule: index in `table`, 0 none */
static emu_allocation *table;           /* [0] is not used */
static size_t count = 1, room;
static size_t live, waiting; /* bytes of the device in use, bytes freed and not reused */
static bool host_check;

__attribute__((constructor(102))) static void configure(void)
{
    device_span = (size_t)emu_setting("CUEMU_MEMORY", 8192) << 20;
    host_check = emu_setting("CUEMU_HOSTCHECK", 1);
    top[1] = device_span;
}

void emu_arena_reserve(void)
{
    if (emu_arena)
        return;
    emu_arena_size = 2 * device_span;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    emu_arena = mmap(NULL, emu_arena_size, PROT_NONE, flags, -1, 0);
    owner = mmap(NULL, emu_arena_size / EMU_GRANULE * sizeof *owner, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (emu_arena == MAP_FAILED || owner == MAP_FAILED ||
        mprotect(emu_arena + device_span, device_span, PROT_READ | PROT_WRITE)) {
        fprintf(stderr,
                "cuemu: no address space for %zu MB of device memory and as many of managed and pinned memory: "
                "set CUEMU_MEMORY to a smaller number\n",
                device_span >> 20);
        exit(2);
    }
}

size_t emu_device_memory(size_t *in_use)
{
    *in_use = live;
    return device_span;
}

/* ---- protection -------------------------------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void protect(size_t begin, size_t end, int how)
{
    uintptr_t from = ((uintptr_t)emu_arena + begin) & ~(PAGE - 1),
              to = ((uintptr_t)emu_arena + end + PAGE - 1) & ~(PAGE - 1);
    if (to > from && mprotect((void *)from, to - from, how)) {
        perror("cuemu: mprotect");
        exit(2);
    }
}

void emu_arena_open(void)
{
    emu_arena_reserve();
    protect(0, least(top[0], CHECKED), PROT_READ | PROT_WRITE);
}

void emu_arena_close(void)
{
    if (host_check)
        protect(0, least(top[0], CHECKED), PROT_NONE);
}

void emu_open(const emu_allocation *a)
{
    if (a && a->home == EMU_DEVICE)
        protect((size_t)(a->begin - emu_arena), (size_t)(a->begin - emu_arena) + a->span + GAP, PROT_READ | PROT_WRITE);
}

void emu_close(const emu_allocation *a)
{
    if (!host_check || !a || a->home != EMU_DEVICE)
        return;
    size_t begin = (size_t)(a->begin - emu_arena);
    protect(begin, least(begin + a->span + GAP, CHECKED), PROT_NONE);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

emu_allocation *emu_find(const void *address)
{
    size_t offset = (size_t)((const char *)address - emu_arena);
    if (offset >= emu_arena_size || !owner[offset / EMU_GRANULE])
        return NULL;
    return &table[owner[offset / EMU_GRANULE]];
}

emu_allocation *emu_nearest(const void *address)
{
    enum { FAR = 4096 }; /* granules */
    size_t offset = (size_t)((const char *)address - emu_arena);
    if (offset >= emu_arena_size)
        return NULL;
    size_t granule = offset / EMU_GRANULE, last = emu_arena_size / EMU_GRANULE - 1;
    for (size_t i = 0; i < FAR; i++) {
        if (i <= granule && owner[granule - i])
            return &table[owner[granule - i]];
        if (granule + i <= last && owner[granule + i])
            return &table[owner[granule + i]];
    }
    return NULL;
}

static size_t span_of(size_t size)
{
    return (size + EMU_GRANULE - 1) / EMU_GRANULE * EMU_GRANULE;
}

/* The oldest freed allocation that fits without waste; with any, the smallest that fits. */
static emu_allocation *reusable(size_t size, emu_home home, bool any)
{
    emu_allocation *best = NULL;
    size_t most = any ? SIZE_MAX : span_of(size) + size / 4;
    for (size_t i = 1; i < count; i++) {
        emu_allocation *a = &table[i];
        if (a->freed && (a->home == EMU_DEVICE) == (home == EMU_DEVICE) && a->span >= span_of(size) &&
            a->span <= most && (!best || (any ? a->span < best->span : a->freed_number < best->freed_number)))
            best = a;
    }
    if (best)
        waiting -= best->span;
    return best;
}

static emu_allocation *fresh(size_t size, emu_home home)
{
    int side = home != EMU_DEVICE;
    size_t span = span_of(size), end = side ? emu_arena_size : device_span;
    if (span + GAP > end - top[side])
        return NULL;
    if (count == room || !room) {
        size_t more = room ? 2 * room : 1024;
        emu_allocation *grown = realloc(table, more * sizeof *grown);
        if (!grown)
            return NULL;
        table = grown;
        room = more;
    }
    emu_allocation *a = &table[count];
    *a = (emu_allocation){ .begin = emu_arena + top[side], .span = span };
    for (size_t i = 0; i < span / EMU_GRANULE; i++)
        owner[top[side] / EMU_GRANULE + i] = (uint32_t)count;
    count++;
    top[side] += span + GAP;
    return a;
}

emu_allocation *emu_allocate(size_t size, emu_home home, uintptr_t pc)
{
    if (home == EMU_DEVICE && size > device_span - live)
        return NULL;
    emu_arena_reserve();
    /* Untraced, a use after free cannot be recognised: freed memory is reused at once, so that fewer pages are touched
     * and have to be protected. */
    emu_allocation *a = waiting > (emu_hook.access ? QUARANTINE : 0) ? reusable(size, home, false) : NULL;
    if (!a)
        a = fresh(size, home);
    if (!a)
        a = reusable(size, home, false);
    if (!a)
        a = reusable(size, home, true); /* freed memory is not joined: a device could hold more */
    if (!a)
        return NULL;
    a->size = size;
    a->home = home;
    a->freed = false;
    a->made = pc;
    a->released = 0;
    live += home == EMU_DEVICE ? size : 0;
    emu_open(a);
    memset(a->begin, FILL, a->span + GAP);
    EMU_CALL(allocated, a);
    emu_close(a);
    return a;
}

void emu_release(emu_allocation *a, uintptr_t pc)
{
    static uint64_t number;
    EMU_CALL(freed, a);
    a->freed = true;
    a->freed_number = ++number;
    a->released = pc;
    waiting += a->span;
    live -= a->home == EMU_DEVICE ? a->size : 0;
    emu_open(a);
    uintptr_t from = ((uintptr_t)a->begin + PAGE - 1) & ~(PAGE - 1), to = (uintptr_t)(a->begin + a->size) & ~(PAGE - 1);
    if (a->size < LARGE)
        memset(a->begin, FILL, a->size);
    else
        madvise((void *)from, to - from, MADV_DONTNEED);
    emu_close(a);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* The bytes after every allocation must still be FILL: this finds overruns in untraced builds. */
void emu_check_gaps(void)
{
    enum { LOOK_AT = 64 };
    for (size_t i = 1; i < count; i++) {
        const emu_allocation *a = &table[i];
        size_t slack = a->span - a->size + GAP;
        for (size_t k = 0; k < (slack < LOOK_AT ? slack : LOOK_AT) && !a->freed; k++) {
            if (EMU_LIKELY((unsigned char)a->begin[a->size + k] == FILL))
                continue;
            const cuemu_launch_config *config = emu_current->config;
            const char *file = "?";
            int line = 0;
            emu_source(a->made, &file, &line);
            emu_error(EMU_OUT_OF_BOUNDS, (emu_site){ .file = config->file, .line = config->line },
                      "kernel %s wrote past the end of the %zu-byte allocation made at %s:%d (byte %zu after it)",
                      config->kernel, a->size, file, line, k + 1);
            memset(a->begin + a->size, FILL, slack);
            break;
        }
    }
}

void emu_report_leaks(void)
{
    if (!emu_setting("CUEMU_LEAKS", 1) || emu_sticky())
        return;
    for (size_t i = 1; i < count; i++)
        if (!table[i].freed)
            emu_warning(EMU_LEAK, (emu_site){ .pc = table[i].made }, "%zu bytes allocated here were never freed",
                        table[i].size);
}
