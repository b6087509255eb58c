/* outside.c -- memory outside the arena that kernels may use: the program's __device__, __constant__ and __managed__
 * variables, and memory of the host that cudaHostRegister named. */
#include <stdlib.h>
#include "emulator/run/memory.h"

extern char __start_cuemu_device[] __attribute__((weak)), __stop_cuemu_device[] __attribute__((weak));
extern char __start_cuemu_constant[] __attribute__((weak)), __stop_cuemu_constant[] __attribute__((weak));
extern char __start_cuemu_managed[] __attribute__((weak)), __stop_cuemu_managed[] __attribute__((weak));

bool emu_is_managed(const void *address)
{
    return emu_within(address, 1, __start_cuemu_managed, __stop_cuemu_managed);
}

bool emu_is_symbol(const void *address, size_t size)
{
    return emu_within(address, size, __start_cuemu_device, __stop_cuemu_device) ||
           emu_within(address, size, __start_cuemu_constant, __stop_cuemu_constant) ||
           emu_within(address, size, __start_cuemu_managed, __stop_cuemu_managed);
}

static struct registered {
    struct registered *next;
    char *begin;
    size_t size;
} *registered;

bool emu_is_registered(const void *address, size_t size)
{
    for (const struct registered *r = registered; r; r = r->next)
        if (emu_within(address, size, r->begin, r->begin + r->size))
            return true;
    return false;
}

bool emu_register(void *begin, size_t size)
{
    struct registered *r = malloc(sizeof *r);
    if (!r)
        return false;
    *r = (struct registered){ registered, begin, size };
    registered = r;
    return true;
}

bool emu_unregister(const void *begin)
{
    struct registered **at = &registered;
    while (*at && (*at)->begin != begin)
        at = &(*at)->next;
    struct registered *r = *at;
    if (!r)
        return false;
    *at = r->next;
    free(r);
    return true;
}
