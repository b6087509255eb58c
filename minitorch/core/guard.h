/* guard.h -- the debug flavour's watch over CPU blocks; storage.c calls it, in other flavours it does nothing.
 *
 *     | record | guard 64 B | the caller's bytes | guard 64 B |
 *     ^ what the allocator gave                  ^ may start at any byte: an overrun by one is seen
 *
 * New and freed bytes are filled with 0xFF: a NaN in every float type, -1 in every integer. Guards are checked when the
 * block is freed, and at once where AddressSanitizer watches. A program that ends well must have freed every block. */
#ifndef MT_CORE_GUARD_H
#define MT_CORE_GUARD_H

#include "core/base.h"

#ifdef MT_DEBUG

#define MT_GUARD_BYTES 64

int64_t mt_guarded_bytes(int64_t bytes);          /* what to ask the allocator for */
void *mt_guard_enter(void *block, int64_t bytes); /* the caller's bytes inside the allocator's block */
void *mt_guard_leave(void *data, int64_t bytes);  /* back; aborts, naming the block, when a guard is hurt */

#else

static inline int64_t mt_guarded_bytes(int64_t bytes)
{
    return mt_max(bytes, 1);
}

static inline void *mt_guard_enter(void *block, int64_t bytes)
{
    (void)bytes;
    return block;
}

static inline void *mt_guard_leave(void *data, int64_t bytes)
{
    (void)bytes;
    return data;
}

#endif
#endif
