/* guard.h -- checks of CPU blocks in the debug flavour (MT_DEBUG); in other flavours storage.c calls nothing.
 *
 *     | record | guard 64 B | the caller's bytes | guard 64 B |
 *     ^ from the allocator                       ^ at any byte, so that an overrun by one is found
 *
 * New and freed bytes are filled with 0xFF: NaN in every float type, -1 in every integer. Guards are checked when the
 * block is freed, and on each access with AddressSanitizer. A program that exits with 0 must have freed every block. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

#ifdef MT_DEBUG
#define MT_GUARD_BYTES 64
int64_t mt_guarded_bytes(int64_t bytes);          /* size to request from the allocator */
void *mt_guard_enter(void *block, int64_t bytes); /* the caller's bytes inside the allocator's block */
void *mt_guard_leave(void *data, int64_t bytes);  /* the allocator's block; aborts, naming it, on a damaged guard */
#else
#define mt_guarded_bytes(bytes)      mt_max(bytes, 1)
#define mt_guard_enter(block, bytes) (block)
#define mt_guard_leave(data, bytes)  (data)
#endif

MT_C_END
