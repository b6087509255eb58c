/* calls_10_pool.c -- how the worker calls the pool of lab 10, over a system that has addresses and no memory. */
#include "memory/pool.h"
#include "worker/calls_10.h"
#include "worker/pool.h"

static struct {
    int64_t memory, given, calls; /* bytes it has; of these given out; calls of alloc so far */
    int64_t start[MG_POOL_PIECES],
        pieces; /* address of each piece in the order in which they were given, and of the next */
} from;

/* Pieces have neighbouring addresses: blocks of two of them must not be merged. */
static void *system_alloc(int64_t bytes)
{
    from.calls++;
    if (bytes > from.memory - from.given || from.pieces == MG_POOL_PIECES - 1)
        return NULL;
    from.given += bytes;
    from.pieces++;
    from.start[from.pieces] = from.start[from.pieces - 1] + bytes;
    return (void *)(uintptr_t)from.start[from.pieces - 1]; // NOLINT(performance-no-int-to-ptr)
}

static void system_free(void *data, int64_t bytes)
{
    (void)data;
    from.given -= bytes;
}

/* The piece that an address lies in; -1: none. */
static int64_t piece_of(int64_t address)
{
    int64_t i = from.pieces - 1;
    while (i >= 0 && (address < from.start[i] || address >= from.start[i + 1]))
        i--;
    return i;
}

void mg_call_pool_sizes(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(bytes)->count; i++) {
        mt_pool_sizes s = mt_pool_sizes_of(I64(bytes)[i]);
        I64(block)[i] = s.block;
        I64(kind)[i] = s.kind;
        I64(segment)[i] = s.segment;
    }
}

/* mt_pool_best_fit changes nothing: twice in a row it finds blocks of the same size, or none. */
static void find_twice(mt_pool *pool, int64_t bytes)
{
    mt_pool_sizes s = mt_pool_sizes_of(bytes);
    const mt_pool_block *found = mt_pool_best_fit(pool, s.kind, s.block);
    int64_t first = found ? found->bytes : 0;
    found = mt_pool_best_fit(pool, s.kind, s.block);
    int64_t second = found ? found->bytes : 0;
    MT_CHECK(
        first == second,
        "mt_pool_best_fit finds a block of %lld bytes, and of %lld when it is called again: it must change nothing",
        (long long)first, (long long)second);
}

/* piece, offset (of a trim: what it returned), given, calls, used [n]; script [n,2]; bytes that the system has. The
 * pool is left as it is: to close it, all blocks would have to be freed. */
void mg_call_pool(const mg_value *v)
{
    int64_t n = ARRAY(piece)->count, *piece = I64(piece), *offset = I64(offset);
    mt_pool *pool = mt_pool_open((mt_allocator){ system_alloc, system_free });
    mg_keeps = true;
    from.memory = N(memory);
    from.given = from.calls = from.pieces = 0;
    from.start[0] = (int64_t)1 << 40;
    for (int64_t i = 0; i < n; i++) {
        const int64_t *event = I64(script) + i * MG_POOL_COLUMNS, with = event[1];
        piece[i] = -1, offset[i] = 0;
        if (event[0] == MG_POOL_EMPTY) {
            offset[i] = mt_pool_empty(pool);
        } else if (event[0] == MG_POOL_RESERVE) {
            mt_pool_reserve(pool, with);
        } else if (event[0] == MG_POOL_ALLOC) {
            find_twice(pool, with);
            int64_t address = (int64_t)(uintptr_t)mt_pool_alloc(pool, with);
            piece[i] = address ? piece_of(address) : -1;
            offset[i] = address - (piece[i] >= 0 ? from.start[piece[i]] : 0);
        } else if (piece[with] >= 0) {
            mt_pool_free(pool, (void *)(uintptr_t)(from.start[piece[with]] + offset[with]),
                         I64(script)[with * MG_POOL_COLUMNS + 1]);
        }
        I64(given)[i] = from.given;
        I64(calls)[i] = from.calls;
        I64(used)[i] = mt_pool_stats_of(pool).used;
    }
}
