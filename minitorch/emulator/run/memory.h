/* memory.h -- the memory that kernels may use: the device's (memory.c) and what lies outside of it (outside.c). */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include "emulator/run/findings.h"

#define EMU_GRANULE 256 /* alignment of device allocations, and the smallest gap between two of them */

typedef enum { EMU_DEVICE, EMU_MANAGED, EMU_PINNED } emu_home; /* pinned: of the host, which kernels may use too */

typedef struct emu_allocation {
    char *begin;
    size_t size, span; /* as requested; rounded up to whole granules */
    emu_home home;
    bool freed;
    uintptr_t made, released; /* the calls (pc) of cudaMalloc and cudaFree */
    uint64_t freed_number;    /* cudaFrees before it, plus 1 */
} emu_allocation;

extern char *emu_arena; /* the address range of device memory */
extern size_t emu_arena_size;

/* emu_find: the allocation, live or freed, whose granules hold `address`; NULL: none. emu_nearest: the closest one. */
emu_allocation *emu_find(const void *address);
emu_allocation *emu_nearest(const void *address);

void emu_arena_reserve(void); /* addresses, at the first use of the device: a program that has none needs none */
void emu_arena_open(void);    /* makes device memory accessible, for a launch */
void emu_arena_close(void);
void emu_open(const emu_allocation *allocation); /* the same for one allocation; NULL: does nothing */
void emu_close(const emu_allocation *allocation);
emu_allocation *emu_allocate(size_t size, emu_home home, uintptr_t pc);
void emu_release(emu_allocation *allocation, uintptr_t pc);
size_t emu_device_memory(size_t *in_use);
void emu_check_gaps(void);
void emu_report_leaks(void);

/* ---- outside.c ---- */
/* Do the bytes lie between the two? */
static inline bool emu_within(const void *address, size_t size, const char *begin, const char *end)
{
    return begin && (const char *)address >= begin && (const char *)address < end &&
           size <= (size_t)(end - (const char *)address);
}
bool emu_is_symbol(const void *address, size_t size);     /* all in variables of the device */
bool emu_is_managed(const void *address);                 /* in a __managed__ variable */
bool emu_is_registered(const void *address, size_t size); /* host memory, by cudaHostRegister */
bool emu_register(void *begin, size_t size);              /* false: no memory */
bool emu_unregister(const void *begin);                   /* false: it is not registered */

#endif
