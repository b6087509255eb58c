/* kernels.c -- kernels by their addresses: those whose address the program takes as a void pointer (cuemu/launch.h). */
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
