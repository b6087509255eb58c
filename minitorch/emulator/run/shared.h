/* shared.h -- the __shared__ arrays of a block (shared.c). */
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include "emulator/run/arch.h"
#include "emulator/run/worker.h"

#define EMU_SHARED_STATIC  (48 << 10)                       /* bytes a block may have by default */
#define EMU_SHARED_LIMIT   (emu_device->shared_block << 10) /* with cudaFuncSetAttribute */
#define EMU_SHARED_SPAN    (1 << 20)                        /* addresses of one worker's shared memory, gaps included */
#define EMU_SHARED_DYNAMIC (EMU_SHARED_SPAN / 2)            /* where extern __shared__ starts in them */

/* A shared array of a block. emu_shared_find gives the one that holds the offset, or the last one before it. */
typedef struct emu_shared_place {
    const cuemu_shared_array *array; /* NULL: dynamic shared memory */
    size_t begin, size;              /* offset from worker->shared */
} emu_shared_place;
/* False: the offset is in no array. */
bool emu_shared_find(const emu_worker *worker, size_t offset, emu_shared_place *place);

void emu_shared_new(emu_worker *worker);
void emu_shared_begin_block(emu_worker *worker);
void emu_shared_end_block(emu_worker *worker);
size_t emu_shared_used(const emu_worker *worker, const emu_launch *launch);

size_t emu_shared_allowed(const void *entry);           /* bytes of shared memory a kernel may use; NULL: any kernel */
bool emu_allow_shared(const void *entry, size_t bytes); /* false: too many kernels */

#endif
