/* arena.h -- the two memory files that carry arrays to a worker and back.
 *
 * Inputs: after mg_arena_open only our own mapping can write; the worker can map it read-only and nothing else.
 * Outputs: shared for writing, of fixed size, so that a worker cannot change its size and cause faults in our reads. */
#pragma once

#include "core/base.h"

typedef struct mg_arena {
    int fd;
    char *base;
    int64_t bytes;
} mg_arena;

/* mg_arena_open -- of `bytes`, or less where the system limits the size of files (RLIMIT_FSIZE): arena->bytes says. */
mt_status mg_arena_open(mg_arena *arena, bool input, int64_t bytes);
void mg_arena_close(mg_arena *arena);
