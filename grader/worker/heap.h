/* heap.h -- what the worker's own malloc (heap.c) knows. */
#pragma once

#include <stdint.h>

/* mg_heap_live -- bytes of all blocks that were allocated and not freed, as asked for: exact, unlike mallinfo. Not in
 * workers whose accesses are counted, which are linked without heap.c. */
int64_t mg_heap_live(void);
