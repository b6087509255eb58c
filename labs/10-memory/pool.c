/* pool.c -- the decisions of the caching allocator: sizes, which block, how much of it, what becomes of it, and what
 * goes back to the system. */
#include "memory/pool.h"

static int64_t round_up(int64_t bytes, int64_t unit)
{
    return mt_ceil_div(bytes, unit) * unit;
}

mt_pool_sizes mt_pool_sizes_of(int64_t bytes)
{
    /* TODO 10.6: The block's bytes, the segment's, and the kind of both.
     * Hint: `bytes` rounded up to a multiple of MT_POOL_ROUND decides about all else. Exactly 1 MiB is small, and
     * exactly 10 MiB has a segment of its own. */
    MT_TODO("10.6"); /* delete this line when yours stands here */
}

mt_pool_block *mt_pool_best_fit(const mt_pool *pool, mt_pool_kind kind, int64_t bytes)
{
    mt_pool_block *best = NULL;
    /* TODO 10.7: The smallest free block that has enough bytes.
     * Hint: its list is mt_pool_list(bytes), or the first one behind it in which any block has enough. A list is in no
     * order: look at all its blocks, but at none after one that fits exactly. */
    MT_TODO("10.7"); /* delete this line when yours stands here */
    return best;
}

void mt_pool_split(mt_pool *pool, mt_pool_block *block, int64_t bytes)
{
    /* TODO 10.7: Cut off the rest, and free it.
     * Hint: mt_pool_cut makes a block of the rest, mt_pool_put enters it in its list. A rest of a large block that is
     * not above MT_POOL_LARGE_REST would seldom suit a large request: it stays where it is. */
    MT_TODO("10.7"); /* delete this line when yours stands here */
}

void mt_pool_merge(mt_pool *pool, mt_pool_block *block)
{
    /* TODO 10.8: One free block of it and its free neighbours.
     * Hint: a free neighbour leaves its list (mt_pool_take) before it is joined. mt_pool_join(pool, b) makes one block
     * of b and its right neighbour; with a free left one the block that remains is the left one. */
    MT_TODO("10.8"); /* delete this line when yours stands here */
}

int64_t mt_pool_trim(mt_pool *pool)
{
    int64_t bytes = 0;
    /* TODO 10.9: Give back every segment that is one free block.
     * Hint: merging has made one block of a segment without used ones: its first, with nothing to its right.
     * mt_pool_give_back frees the segment, so take ->next before. */
    MT_TODO("10.9"); /* delete this line when yours stands here */
    return bytes;
}

mt_pool_block *mt_pool_retry(mt_pool *pool, mt_pool_sizes sizes)
{
    /* TODO 10.9: Make room, and ask the system again. */
    MT_TODO("10.9"); /* delete this line when yours stands here */
}
