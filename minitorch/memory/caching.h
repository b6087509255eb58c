/* caching.h -- a pool (memory/pool.h) as the allocator of a device, and what a program says when memory is out. */
#pragma once

#include "memory/pool.h"

#include <stdio.h>

MT_C_BEGIN

/* mt_caching_begin -- from now on the device's memory comes from a pool over the allocator that it has.
 * mt_caching_end -- the pool, if there is one, gives everything back, and the device has that allocator again.
 * Both abort when the device has live blocks. mt_caching_pool -- the pool; NULL: none. */
void mt_caching_begin(mt_device device);
void mt_caching_end(mt_device device);
mt_pool *mt_caching_pool(mt_device device);

/* mt_caching_record -- the blocks of the device's pool, used and free, into the recording that is running
 * (prof/recorder.h). Nothing without a pool. */
void mt_caching_record(mt_device device);

/* mt_memory_advise -- from now on a program that runs out of memory prints what is reserved and used, and calls this
 * function, which prints how to need less; NULL: prints nothing again.
 *   had   what the device has given, and the largest block that it still has */
typedef void mt_memory_adviser(void *user, FILE *out, int64_t had);
void mt_memory_advise(mt_memory_adviser *adviser, void *user);

/* mt_caching_print -- a table of the device's memory: bytes live and their peak and, with a pool, for each kind what is
 * reserved and used, the largest free block, and how often the system was asked. */
void mt_caching_print(FILE *out, mt_device device);

MT_C_END
