/* kernels.c -- kernels by their addresses: those that the program takes as void pointers (cuemu/launch.h), and those
 * with __launch_bounds__ that are no templates. */
#include <stdlib.h>
#include "core.h"

static cuemu_kernel *known;
static size_t count;

const cuemu_kernel *cuemu_find_kernel(const void *entry)
{
    for (size_t i = 0; i < count; i++)
        if (known[i].entry == entry)
            return &known[i];
    return NULL;
}

void cuemu_know_kernel(const cuemu_kernel *kernel)
{
    emu_api_lock();
    if (!cuemu_find_kernel(kernel->entry)) {
        known = realloc(known, (count + 1) * sizeof *known);
        if (!known)
            abort();
        known[count++] = *kernel;
    }
    emu_api_unlock();
}

static struct bound {
    const void *entry;
    int threads;
} * bounds;
static size_t bound_count;

int cuemu_know_bound(const void *entry, int threads)
{
    bounds = realloc(bounds, (bound_count + 1) * sizeof *bounds);
    if (!bounds)
        abort();
    bounds[bound_count++] = (struct bound){ entry, threads };
    return 1;
}

int cuemu_bound_of(const void *entry)
{
    for (size_t i = 0; i < bound_count; i++)
        if (bounds[i].entry == entry)
            return bounds[i].threads < EMU_MAX_THREADS ? bounds[i].threads : EMU_MAX_THREADS;
    return EMU_MAX_THREADS;
}
