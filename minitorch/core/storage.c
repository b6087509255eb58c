/* storage.c -- mt_alloc and mt_free count every block, report it to the observer, and guard it in the debug
 * flavour.
 *
 * The CPU allocator is malloc with three additions for large arrays: huge pages (a TLB entry covers 2 MiB instead of
 * 4 KiB), start addresses that do not collide in the caches, and freed pages that stay with the process. */
#include "core/storage.h"
#include "core/guard.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    HUGE_PAGE = 2 << 20,
    OFFSETS = 15,                /* large blocks start at so many different offsets in their page, */
    SPACING = 17 * MT_ALIGNMENT, /* so far apart: modulo 4 KiB at least 4 cache lines from each other */
};

/* ---- allocators ----------------------------------------------------------------------------- */

/* A loop over several arrays that start a multiple of 1 MiB apart is slow on some processors: AdamW over four arrays
 * moves 9 GB/s on a Sapphire Rapids core, but 28 to 33 GB/s when the starts differ by 64 B or more. So each large block
 * starts at another offset in its huge page than the blocks before it. */
static void *large_alloc(size_t bytes)
{
    static _Atomic unsigned blocks;
    size_t offset = atomic_fetch_add(&blocks, 1) % OFFSETS * SPACING;
    void *block = NULL;
    if (posix_memalign(&block, HUGE_PAGE, offset + bytes) != 0)
        return NULL;
    madvise(block, offset + bytes, MADV_HUGEPAGE); /* advice only: without huge pages it changes nothing */
    return (char *)block + offset;
}

/* malloc is faster than posix_memalign; the pointer that it returned is stored before the data. */
static void *small_alloc(size_t bytes)
{
    char *block = malloc(bytes + MT_ALIGNMENT);
    if (!block)
        return NULL;
    void **data = (void **)(block + MT_ALIGNMENT - (uintptr_t)block % MT_ALIGNMENT);
    data[-1] = block;
    return data;
}

/* Each training step allocates again what the last one freed. Pages returned to the system in between would have to be
 * cleared by it, which takes 0.1 s in each step of GPT-2 124M: let malloc keep them. */
static void keep_freed_pages(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1); /* never */
}

static void *cpu_alloc(int64_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, keep_freed_pages);
    return (bytes >= HUGE_PAGE ? large_alloc : small_alloc)((size_t)bytes);
}

static void cpu_free(void *data, int64_t bytes)
{
    free(bytes >= HUGE_PAGE ? (char *)data - (uintptr_t)data % HUGE_PAGE : ((void **)data)[-1]);
}

/* What is known about the memory of each device. */
static struct {
    mt_allocator allocator; /* alloc is NULL for the default */
    _Atomic int64_t live, peak, blocks;
} memory[MT_DEVICE_COUNT];

mt_allocator mt_allocator_of(mt_device device)
{
    if (memory[device].allocator.alloc)
        return memory[device].allocator;
    if (device == MT_CPU)
        return (mt_allocator){ cpu_alloc, cpu_free };
    MT_CHECK(mt_cuda, "no memory on %s: open the device first (mt_device_open)", mt_device_name(device));
    return (mt_allocator){ mt_cuda->driver->alloc, mt_cuda->driver->free };
}

void mt_allocator_set(mt_device device, const mt_allocator *allocator)
{
    int64_t blocks = atomic_load(&memory[device].blocks);
    MT_CHECK(blocks == 0, "the allocator of %s cannot change while %" PRId64 " blocks are live", mt_device_name(device),
             blocks);
    memory[device].allocator = allocator ? *allocator : (mt_allocator){ 0 };
}

/* ---- blocks --------------------------------------------------------------------------------- */

void (*mt_out_of_memory_hook)(mt_device device, int64_t bytes);
static mt_alloc_observer *_Atomic observer;
static void *_Atomic observer_user;

void mt_alloc_observe(mt_alloc_observer *wanted, void *user)
{
    atomic_store(&observer, NULL);
    atomic_store(&observer_user, user);
    atomic_store(&observer, wanted);
}

static void notify(mt_device device, const void *data, int64_t bytes)
{
    mt_alloc_observer *call = atomic_load_explicit(&observer, memory_order_acquire);
    if (call && bytes != 0)
        call(atomic_load(&observer_user), device, data, bytes);
}

const char *const mt_use_name[MT_USES] = { "parameters", "optimizer state", "gradients", "activations", "other" };
static _Thread_local mt_memory_use use = MT_USE_UNSAID;

mt_memory_use mt_alloc_for(mt_memory_use wanted)
{
    mt_memory_use before = use;
    use = wanted;
    return before;
}

mt_memory_use mt_alloc_use(void)
{
    return use;
}

static void count(mt_device device, int64_t bytes, int blocks)
{
    int64_t live = atomic_fetch_add(&memory[device].live, bytes) + bytes;
    int64_t peak = atomic_load(&memory[device].peak);
    while (live > peak && !atomic_compare_exchange_weak(&memory[device].peak, &peak, live))
        continue;
    atomic_fetch_add(&memory[device].blocks, blocks);
}

void *mt_alloc(int64_t bytes, mt_device device)
{
    MT_CHECK(bytes >= 0, "cannot allocate %" PRId64 " bytes", bytes);
    mt_allocator allocator = mt_allocator_of(device);
    bool guarded = device == MT_CPU;
    void *data = allocator.alloc(guarded ? mt_guarded_bytes(bytes) : mt_max(bytes, 1));
    if (!data && mt_out_of_memory_hook)
        mt_out_of_memory_hook(device, bytes);
    MT_CHECK(data, "out of memory on %s: %" PRId64 " bytes wanted, %" PRId64 " live", mt_device_name(device), bytes,
             mt_live_bytes(device));
    if (guarded)
        data = mt_guard_enter(data, bytes);
    count(device, bytes, 1);
    notify(device, data, bytes);
    return data;
}

void mt_free(void *data, int64_t bytes, mt_device device)
{
    if (!data)
        return;
    notify(device, data, -bytes); /* before the free: later another thread may get the same address */
    count(device, -bytes, -1);
    if (device == MT_CPU)
        mt_allocator_of(device).free(mt_guard_leave(data, bytes), mt_guarded_bytes(bytes));
    else
        mt_allocator_of(device).free(data, mt_max(bytes, 1));
}

int64_t mt_live_bytes(mt_device device)
{
    return memory[device].live;
}

int64_t mt_peak_bytes(mt_device device)
{
    return memory[device].peak;
}

void mt_peak_reset(mt_device device)
{
    memory[device].peak = memory[device].live;
}

/* ---- storage -------------------------------------------------------------------------------- */

mt_storage *mt_storage_new(int64_t bytes, mt_device device)
{
    mt_storage *storage = mt_calloc(1, sizeof *storage);
    *storage = (mt_storage){ .data = mt_alloc(bytes, device), .bytes = bytes, .device = device, .refs = 1 };
    return storage;
}

mt_storage *mt_storage_retain(mt_storage *storage)
{
    storage->refs++;
    return storage;
}

void mt_storage_release(mt_storage *storage)
{
    if (!storage || --storage->refs > 0)
        return;
    mt_free(storage->data, storage->bytes, storage->device);
    free(storage);
}
