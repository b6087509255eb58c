/* copies.c -- memcpy and memset in kernels, and cp.async: asynchronous copies into shared memory.
 *
 * A cp.async copy is carried out when the thread waits for its group, not before. Code without the wait therefore reads
 * uninitialised shared memory, which is reported.
 */
#include <stdlib.h>
#include <string.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"

#define HERE ((uintptr_t)__builtin_return_address(0))

typedef struct emu_copies {
    int count, room;
    unsigned group; /* groups committed so far */
    struct {
        void *to;
        const void *from; /* NULL: zeros */
        int size;
        unsigned group;
    } copy[];
} emu_copies;

void emu_copies_drop(emu_thread *thread)
{
    free(thread->copies);
    thread->copies = NULL;
}

static emu_copies *with_room(emu_thread *self)
{
    emu_copies *copies = self->copies;
    if (copies && copies->count < copies->room)
        return copies;
    int room = copies ? 2 * copies->room : 16;
    emu_worker *worker = self->warp->worker;
    worker->busy++;
    emu_copies *grown = realloc(copies, sizeof *copies + (size_t)room * sizeof copies->copy[0]);
    worker->busy--;
    if (!grown)
        abort();
    if (!copies)
        grown->count = 0, grown->group = 0;
    grown->room = room;
    self->copies = grown;
    return grown;
}

void cuemu_copy_async(void *shared, const void *global, int size, int zero_filled)
{
    emu_thread *self = emu_device_only("cp.async", HERE);
    if (((uintptr_t)shared | (uintptr_t)global) % (uintptr_t)size) {
        emu_error(EMU_MISALIGNED, EMU_HERE, "cp.async of %d bytes from %p to %p: both must be multiples of %d", size,
                  global, shared, size);
        emu_kill(cudaErrorMisalignedAddress);
    }
    if (!zero_filled)
        EMU_CALL(access, (void *)(uintptr_t)global, (size_t)size, false, HERE);
    emu_copies *copies = with_room(self);
    copies->copy[copies->count].to = shared;
    copies->copy[copies->count].from = zero_filled ? NULL : global;
    copies->copy[copies->count].size = size;
    copies->copy[copies->count++].group = copies->group;
}

void cuemu_copy_commit(void)
{
    with_room(emu_device_only("cp.async.commit_group", HERE))->group++;
}

void cuemu_copy_wait(int groups_left)
{
    emu_copies *copies = emu_device_only("cp.async.wait_group", HERE)->copies;
    if (!copies)
        return;
    int left = 0;
    for (int i = 0; i < copies->count; i++) {
        if (copies->copy[i].group + (unsigned)groups_left >= copies->group) {
            copies->copy[left++] = copies->copy[i];
            continue;
        }
        EMU_CALL(access, copies->copy[i].to, (size_t)copies->copy[i].size, true, HERE);
        if (copies->copy[i].from)
            memcpy(copies->copy[i].to, copies->copy[i].from, (size_t)copies->copy[i].size);
        else
            memset(copies->copy[i].to, 0, (size_t)copies->copy[i].size);
    }
    copies->count = left;
}

/* ---- memcpy, memset ---------------------------------------------------------------------------------------------- */

/* The widest access, in bytes, to which both addresses are aligned: 16 at most. */
static size_t piece(uintptr_t to, uintptr_t from, size_t size)
{
    size_t bytes = 16;
    while (bytes > size || ((to | from) & (bytes - 1)))
        bytes /= 2;
    return bytes;
}

void *cuemu_memcpy(void *to, const void *from, size_t size)
{
    char *p = to;
    for (size_t bytes; emu_self && size > 0; size -= bytes) {
        bytes = piece((uintptr_t)p, (uintptr_t)from, size);
        EMU_CALL(access, (void *)(uintptr_t)from, bytes, false, HERE);
        EMU_CALL(access, p, bytes, true, HERE);
        memcpy(p, from, bytes);
        p += bytes;
        from = (const char *)from + bytes;
    }
    memcpy(p, from, size); /* on the host */
    return to;
}

void *cuemu_memset(void *to, int value, size_t size)
{
    char *p = to;
    for (size_t bytes; emu_self && size > 0; size -= bytes) {
        bytes = piece((uintptr_t)p, 0, size);
        EMU_CALL(access, p, bytes, true, HERE);
        memset(p, value, bytes);
        p += bytes;
    }
    memset(p, value, size);
    return to;
}
