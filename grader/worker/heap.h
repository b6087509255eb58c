/* heap.h -- what the worker's own malloc (heap.c) knows. Weak: workers whose accesses are counted are linked without
 * it. */
#pragma once

#include <stdint.h>

/* mg_heap_live -- bytes of all blocks that were allocated and not freed, as asked for: exact, unlike mallinfo. */
int64_t mg_heap_live(void) __attribute__((weak));

/* mg_heap_check -- abort, with what was written where, if something was written past the end of a block. */
void mg_heap_check(void) __attribute__((weak));

/* mg_heap_say -- of an address that cannot be accessed: print the block that it is in, which is freed, or the block
 * that ends before it. From a handler of signals. */
void mg_heap_say(const void *address) __attribute__((weak));
