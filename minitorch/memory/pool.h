/* pool.h -- a caching allocator: a few large segments come from the system and are cut into blocks; a freed block stays
 * in the pool, for the next allocation that it suits.
 *
 *     segment of 20 MiB   | used 3 MiB | free 7 MiB | used 9 MiB | free 1 MiB |      neighbours: left <-> right
 *
 * The system's allocator is slow (cudaMalloc takes microseconds and cudaFree waits for the device), and a training step
 * allocates again what the step before it freed. With a pool the system is asked in the first steps only. The price is
 * memory that is reserved and not used: what is lost to rounding, and free blocks that suit no request.
 *
 * Blocks may lie in the memory of a device, so the pool reads and writes nothing inside them: what it knows about them
 * is in records of the host. All work on a device is done in one stream, in the order of the calls (core/device.h);
 * therefore a freed block can be used again at once, although the device may still have to work on it.
 *
 * Source: the rules are those of PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp) with its default
 * settings; best fit and merging: Knuth, The Art of Computer Programming, vol. 1, sec. 2.5. */
#pragma once

#include "core/storage.h"

MT_C_BEGIN

#define MT_MIB ((int64_t)1 << 20)

/* The sizes of the rules, in bytes. */
#define MT_POOL_ROUND          ((int64_t)512)     /* blocks are multiples of this */
#define MT_POOL_SMALL          (1 * MT_MIB)       /* the largest small block */
#define MT_POOL_SMALL_SEGMENT  (2 * MT_MIB)       /* for small blocks */
#define MT_POOL_MIDDLE         (10 * MT_MIB)      /* blocks from this size on have a segment made for them, */
#define MT_POOL_MIDDLE_SEGMENT (20 * MT_MIB)      /* others are cut from one of this size */
#define MT_POOL_STEP           (2 * MT_MIB)       /* a segment made for one block is a multiple of this */
#define MT_POOL_LARGE_REST     (1 * MT_MIB)       /* what is left of a large block is split off when it is more */
#define MT_POOL_LIMIT          ((int64_t)1 << 62) /* of a request */

typedef enum mt_pool_kind { MT_POOL_OF_SMALL, MT_POOL_OF_LARGE } mt_pool_kind;

#define MT_POOL_KINDS 2

typedef struct mt_pool_segment mt_pool_segment;
typedef struct mt_pool_block mt_pool_block;
typedef struct mt_pool mt_pool;

/* A part of a segment. */
struct mt_pool_block {
    char *data;
    int64_t bytes;  /* a multiple of MT_POOL_ROUND */
    int64_t wanted; /* used: as asked for */
    bool used;
    mt_pool_segment *segment;
    mt_pool_block *left, *right;    /* before and behind it in the segment; NULL at its ends */
    mt_pool_block *previous, *next; /* in its list, while it is free */
};

/* What came from the system in one piece. */
struct mt_pool_segment {
    mt_pool_block *first; /* the others: first->right ... */
    int64_t bytes;
    mt_pool_kind kind;
    mt_pool_segment *previous, *next; /* of the pool, in the order in which they came */
};

/* What one request needs. */
typedef struct mt_pool_sizes {
    int64_t block;   /* its bytes, rounded up */
    int64_t segment; /* to ask of the system when no free block suits */
    mt_pool_kind kind;
} mt_pool_sizes;

/* mt_pool_sizes_of -- what a request of so many bytes needs, 1 <= bytes <= MT_POOL_LIMIT.
 *   block    the next multiple of MT_POOL_ROUND
 *   kind     small up to MT_POOL_SMALL, else large: by the rounded size
 *   segment  MT_POOL_SMALL_SEGMENT for small blocks, MT_POOL_MIDDLE_SEGMENT for large ones below MT_POOL_MIDDLE, else
 *            the block rounded up to MT_POOL_STEP
 * Unit: solutions/10-memory/pool.c   Lab 10.6 */
mt_pool_sizes mt_pool_sizes_of(int64_t bytes);

/* ---- what units do with blocks, while the pool is locked ---------------------------------------------- */

/* mt_pool_best_fit -- the smallest free block of this kind with at least `bytes` bytes, any of them if several are
 * equal; NULL: there is none. Nothing changes.   Unit: solutions/10-memory/pool.c   Lab 10.7 */
mt_pool_block *mt_pool_best_fit(const mt_pool *pool, mt_pool_kind kind, int64_t bytes);

/* mt_pool_split -- cut a used block of at least so many bytes to this size, when the rest is worth a block: in a small
 * segment any rest, in a large one more than MT_POOL_LARGE_REST. The rest is free. `bytes` is a multiple of
 * MT_POOL_ROUND.   Unit: solutions/10-memory/pool.c   Lab 10.7 */
void mt_pool_split(mt_pool *pool, mt_pool_block *block, int64_t bytes);

/* mt_pool_merge -- free a used block, as one block with those of its neighbours that are free.
 * Unit: solutions/10-memory/pool.c   Lab 10.8 */
void mt_pool_merge(mt_pool *pool, mt_pool_block *block);

/* mt_pool_trim -- give every segment without a used block back to the system. Returns the bytes given back.
 * Unit: solutions/10-memory/pool.c   Lab 10.9 */
int64_t mt_pool_trim(mt_pool *pool);

/* mt_pool_retry -- the system has refused a segment: trim both kinds, then ask once more. NULL: refused again.
 * Unit: solutions/10-memory/pool.c   Lab 10.9 */
mt_pool_block *mt_pool_retry(mt_pool *pool, mt_pool_sizes sizes);

/* What they are made of. A free block is in a list: list i of a kind has those of 512 * 2^i bytes and more, below
 * 512 * 2^(i + 1), in any order.
 * mt_pool_list -- the number of the list for this size, < MT_POOL_LISTS.   mt_pool_first -- its first block, or NULL.
 * mt_pool_put -- a used block, which is in no list, becomes free and enters its list.
 * mt_pool_take -- a free block leaves its list and is used.
 * mt_pool_cut -- a block, in no list, keeps its first `bytes` bytes; returns the rest, a used block behind it.
 * mt_pool_join -- a block and its right neighbour, both in no list, become one: the left one's record stays.
 * mt_pool_grow -- ask the system for sizes.segment bytes: one used block; NULL when it has none.
 * mt_pool_give_back -- return a segment, which consists of one free block, to the system. */
enum { MT_POOL_LISTS = 54 };
int mt_pool_list(int64_t bytes);
mt_pool_block *mt_pool_first(const mt_pool *pool, mt_pool_kind kind, int list);
mt_pool_segment *mt_pool_segments(const mt_pool *pool); /* the oldest */
void mt_pool_put(mt_pool *pool, mt_pool_block *block);
void mt_pool_take(mt_pool *pool, mt_pool_block *block);
mt_pool_block *mt_pool_cut(mt_pool *pool, mt_pool_block *block, int64_t bytes);
void mt_pool_join(mt_pool *pool, mt_pool_block *left);
mt_pool_block *mt_pool_grow(mt_pool *pool, mt_pool_sizes sizes);
void mt_pool_give_back(mt_pool *pool, mt_pool_segment *segment);

/* ---- a pool --------------------------------------------------------------------------------------------- */

/* mt_pool_open -- an empty pool over this allocator, the "system"; its blocks must be MT_ALIGNMENT-aligned.
 * mt_pool_close -- give everything back.   Aborts: a block is used. */
mt_pool *mt_pool_open(mt_allocator system);
void mt_pool_close(mt_pool *pool);

/* mt_pool_reserve -- ask the system now for one segment for large blocks, of so many bytes rounded up to MT_POOL_STEP,
 * 1 <= bytes <= MT_POOL_LIMIT, as a free block.
 * A program that knows the most that it will need asks the system once: where sizes change, every new largest request
 * takes a segment of its own otherwise. False: the system has no such segment; the pool is as it was. */
bool mt_pool_reserve(mt_pool *pool, int64_t bytes);

/* mt_pool_alloc -- MT_ALIGNMENT-aligned; NULL when the system has no memory, not even after a trim, or bytes is above
 * MT_POOL_LIMIT; bytes >= 1.   mt_pool_free -- with the same bytes.   Aborts: not a used block of that size.
 * mt_pool_empty -- mt_pool_trim, from outside. All three can be called by several threads at a time. */
void *mt_pool_alloc(mt_pool *pool, int64_t bytes);
void mt_pool_free(mt_pool *pool, void *data, int64_t bytes);
int64_t mt_pool_empty(mt_pool *pool);

typedef struct mt_pool_stats {
    int64_t wanted, used, reserved;                /* bytes now: as asked for; of used blocks; of segments */
    int64_t peak_wanted, peak_used, peak_reserved; /* the most there ever were */
    int64_t blocks, segments;                      /* used blocks; segments */
    int64_t allocations, system_calls;             /* so far: calls of mt_pool_alloc; segments asked of the system */
} mt_pool_stats;

mt_pool_stats mt_pool_stats_of(mt_pool *pool);

/* mt_pool_visit -- all segments in the order in which they came; their blocks: first, and from there to the right. The
 * pool is locked meanwhile: `visit` must not allocate from it. */
typedef void mt_pool_visitor(void *user, const mt_pool_segment *segment);
void mt_pool_visit(mt_pool *pool, mt_pool_visitor *visit, void *user);

MT_C_END
