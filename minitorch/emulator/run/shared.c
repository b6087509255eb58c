/* shared.c -- the layout of a block's __shared__ arrays.
 *
 * Every worker has one span of addresses. An array is placed in it when the block's first thread reaches its
 * declaration, followed by a gap, so that an overrun touches no other array. Every array begins at bank 0, so that
 * counts of conflicts do not depend on the order of placement. When a block begins, arrays and gaps are filled with
 * NaN: shared memory is uninitialised. When it ends the gaps must be unchanged; a traced build checks every access
 * (check/).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "emulator/run/findings.h"
#include "emulator/run/sched.h"
#include "emulator/run/shared.h"

#define MOST_ARRAYS  4096 /* of a program: instances of templates count */
#define MOST_KERNELS 256  /* with an opt-in to more shared memory */
#define LINE         128  /* bytes: 32 banks */
#define GAP          128
#define FILL         0xff

typedef struct emu_shared_layout {
    uint64_t launch; /* number of the launch whose layout this is, plus 1 */
    size_t end;      /* of the last gap */
    size_t used;     /* bytes of arrays, packed as the compiler would */
    int count;
    emu_shared_place places[256]; /* in order of addresses */
    struct {
        uint64_t launch;
        size_t offset;
    } of_id[MOST_ARRAYS];
} emu_shared_layout;

static unsigned ids;
static struct {
    const void *entry;
    size_t allowed;
} opted_in[MOST_KERNELS];
static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;

void emu_shared_new(emu_worker *worker)
{
    size_t size = EMU_SHARED_SPAN + sizeof(emu_shared_layout);
    worker->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (worker->shared == MAP_FAILED) {
        perror("cuemu: no memory for shared memory");
        exit(2);
    }
    worker->layout = (emu_shared_layout *)(worker->shared + EMU_SHARED_SPAN);
}

void emu_shared_begin_block(emu_worker *worker)
{
    emu_shared_layout *layout = worker->layout;
    if (layout->launch != worker->launch->number + 1) {
        layout->launch = worker->launch->number + 1;
        layout->end = layout->used = 0;
        layout->count = 0;
    }
    memset(worker->shared, FILL, layout->end);
    size_t dynamic = worker->launch->config->dynamic_shared;
    if (dynamic)
        memset(worker->shared + EMU_SHARED_DYNAMIC, FILL, dynamic + GAP);
}

static void check_gap(emu_worker *worker, const cuemu_shared_array *array, size_t end)
{
    for (size_t i = 0; i < GAP; i++) {
        if (EMU_LIKELY((unsigned char)worker->shared[end + i] == FILL))
            continue;
        emu_site site = { .file = array ? array->file : worker->launch->config->file,
                          .line = array ? array->line : worker->launch->config->line };
        emu_error_of(&worker->threads[0], EMU_OUT_OF_BOUNDS, site,
                     "the block wrote past the end of %s%s (byte %zu after it)",
                     array ? "shared array " : "its dynamic shared memory", array ? array->name : "", i + 1);
        return;
    }
}

void emu_shared_end_block(emu_worker *worker)
{
    const emu_shared_layout *layout = worker->layout;
    for (int i = 0; i < layout->count; i++)
        check_gap(worker, layout->places[i].array, layout->places[i].begin + layout->places[i].size);
    if (worker->launch->config->dynamic_shared)
        check_gap(worker, NULL, EMU_SHARED_DYNAMIC + worker->launch->config->dynamic_shared);
}

/* 0 for a worker that ran no block of the launch. */
size_t emu_shared_used(const emu_worker *worker, const emu_launch *launch)
{
    return worker->layout->launch == launch->number + 1 ? worker->layout->used : 0;
}

static unsigned id_of(cuemu_shared_array *array)
{
    unsigned id = __atomic_load_n(&array->id, __ATOMIC_ACQUIRE);
    if (EMU_LIKELY(id))
        return id;
    pthread_mutex_lock(&id_lock);
    if (!array->id)
        __atomic_store_n(&array->id, ++ids, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&id_lock);
    if (array->id >= MOST_ARRAYS) {
        emu_error(EMU_LIMIT, (emu_site){ .file = array->file, .line = array->line }, "more than %d shared arrays",
                  MOST_ARRAYS);
        emu_kill(cudaErrorLaunchFailure);
    }
    return array->id;
}

size_t emu_shared_allowed(const void *entry)
{
    if (!entry)
        return (size_t)EMU_SHARED_LIMIT;
    for (int i = 0; i < MOST_KERNELS && opted_in[i].entry; i++)
        if (opted_in[i].entry == entry)
            return opted_in[i].allowed > EMU_SHARED_STATIC ? opted_in[i].allowed : EMU_SHARED_STATIC;
    return EMU_SHARED_STATIC;
}

bool emu_allow_shared(const void *entry, size_t bytes)
{
    for (int i = 0; i < MOST_KERNELS; i++) {
        if (opted_in[i].entry && opted_in[i].entry != entry)
            continue;
        opted_in[i].entry = entry;
        opted_in[i].allowed = bytes;
        return true;
    }
    return false;
}

static void check_limit(const emu_worker *worker, const cuemu_shared_array *array)
{
    const cuemu_launch_config *config = worker->launch->config;
    size_t used = worker->layout->used, all = used + config->dynamic_shared;
    emu_site site = { .file = array->file, .line = array->line };
    if (used > EMU_SHARED_STATIC)
        emu_error(EMU_LIMIT, site, "kernel %s has %zu bytes of static shared memory, but nvcc accepts at most %d",
                  config->kernel, used, EMU_SHARED_STATIC);
    else if (all > EMU_SHARED_STATIC && all > emu_shared_allowed(config->entry))
        emu_error(EMU_LIMIT, site,
                  "kernel %s needs %zu bytes of static and %zu of dynamic shared memory, more than the %zu allowed",
                  config->kernel, used, config->dynamic_shared, emu_shared_allowed(config->entry));
    else
        return;
    emu_kill(cudaErrorInvalidValue);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static size_t place(emu_worker *worker, cuemu_shared_array *array, size_t size, size_t align)
{
    emu_shared_layout *layout = worker->layout;
    layout->used = round_up(layout->used, align) + size;
    check_limit(worker, array);
    if (layout->count == (int)(sizeof layout->places / sizeof layout->places[0])) {
        emu_error(EMU_LIMIT, (emu_site){ .file = array->file, .line = array->line },
                  "more than %d shared arrays in a kernel", layout->count);
        emu_kill(cudaErrorLaunchFailure);
    }
    size_t begin = layout->end;
    layout->places[layout->count++] = (emu_shared_place){ .array = array, .begin = begin, .size = size };
    layout->end = round_up(begin + size + GAP, align > LINE ? align : LINE);
    memset(worker->shared + begin, FILL, layout->end - begin);
    return begin;
}

void *cuemu_shared(cuemu_shared_array *array, size_t size, size_t align)
{
    emu_thread *self = emu_device_only("a __shared__ array", (uintptr_t)__builtin_return_address(0));
    emu_worker *worker = self->warp->worker;
    unsigned id = id_of(array);
    if (EMU_UNLIKELY(worker->layout->of_id[id].launch != worker->layout->launch)) {
        size_t offset = place(worker, array, size, align);
        worker->layout->of_id[id].offset = offset;
        worker->layout->of_id[id].launch = worker->layout->launch;
    }
    return worker->shared + worker->layout->of_id[id].offset;
}

void *cuemu_dynamic_shared(void)
{
    emu_thread *self = emu_device_only("extern __shared__ memory", (uintptr_t)__builtin_return_address(0));
    return self->warp->worker->shared + EMU_SHARED_DYNAMIC;
}

size_t cuemu_shared_offset(const void *shared)
{
    emu_thread *self = emu_device_only("__cvta_generic_to_shared", (uintptr_t)__builtin_return_address(0));
    return (size_t)((const char *)shared - self->warp->worker->shared);
}

void *cuemu_shared_address(size_t offset)
{
    emu_thread *self = emu_device_only("a shared address", (uintptr_t)__builtin_return_address(0));
    return self->warp->worker->shared + offset;
}

bool emu_shared_find(const emu_worker *worker, size_t offset, emu_shared_place *found)
{
    const emu_shared_layout *layout = worker->layout;
    *found = (emu_shared_place){ 0 };
    if (offset >= EMU_SHARED_DYNAMIC)
        *found = (emu_shared_place){ .begin = EMU_SHARED_DYNAMIC, .size = worker->launch->config->dynamic_shared };
    for (int i = 0; offset < EMU_SHARED_DYNAMIC && i < layout->count && layout->places[i].begin <= offset; i++)
        *found = layout->places[i];
    return offset - found->begin < found->size;
}
