/* pool.c -- the decisions of the caching allocator: sizes, which block, how much of it, what becomes of it, and what
 * goes back to the system. */
#include "memory/pool.h"

static int64_t round_up(int64_t bytes, int64_t unit)
{
    return mt_ceil_div(bytes, unit) * unit;
}

mt_pool_sizes mt_pool_sizes_of(int64_t bytes)
{
    /* LAB 10.6 BEGIN  The block's bytes, the segment's, and the kind of both.
     * Hint: `bytes` rounded up to a multiple of MT_POOL_ROUND decides about all else. Exactly 1 MiB is small, and
     * exactly 10 MiB has a segment of its own. */
    int64_t block = round_up(bytes, MT_POOL_ROUND);
    if (block <= MT_POOL_SMALL)
        return (mt_pool_sizes){ block, MT_POOL_SMALL_SEGMENT, MT_POOL_OF_SMALL };
    if (block < MT_POOL_MIDDLE)
        return (mt_pool_sizes){ block, MT_POOL_MIDDLE_SEGMENT, MT_POOL_OF_LARGE };
    return (mt_pool_sizes){ block, round_up(block, MT_POOL_STEP), MT_POOL_OF_LARGE };
    /* LAB 10.6 END */
}

mt_pool_block *mt_pool_best_fit(const mt_pool *pool, mt_pool_kind kind, int64_t bytes)
{
    mt_pool_block *best = NULL;
    /* LAB 10.7 BEGIN  The smallest free block that has enough bytes.
     * Hint: its list is mt_pool_list(bytes), or the first one behind it in which any block has enough. A list is in no
     * order: look at all its blocks, but at none after one that fits exactly. */
    for (int list = mt_pool_list(bytes); !best && list < MT_POOL_LISTS; list++)
        for (mt_pool_block *b = mt_pool_first(pool, kind, list); b && !(best && best->bytes == bytes); b = b->next)
            if (b->bytes >= bytes && (!best || b->bytes < best->bytes))
                best = b;
    /* LAB 10.7 END */
    return best;
}

void mt_pool_split(mt_pool *pool, mt_pool_block *block, int64_t bytes)
{
    /* LAB 10.7 BEGIN  Cut off the rest, and free it.
     * Hint: mt_pool_cut makes a block of the rest, mt_pool_put enters it in its list. A rest of a large block that is
     * not above MT_POOL_LARGE_REST would seldom suit a large request: it stays where it is. */
    int64_t rest = block->bytes - bytes;
    if (rest > (block->segment->kind == MT_POOL_OF_SMALL ? 0 : MT_POOL_LARGE_REST))
        mt_pool_put(pool, mt_pool_cut(pool, block, bytes));
    /* LAB 10.7 END */
}

void mt_pool_merge(mt_pool *pool, mt_pool_block *block)
{
    /* LAB 10.8 BEGIN  One free block of it and its free neighbours.
     * Hint: a free neighbour leaves its list (mt_pool_take) before it is joined. mt_pool_join(pool, b) makes one block
     * of b and its right neighbour; with a free left one the block that remains is the left one. */
    mt_pool_block *left = block->left, *right = block->right;
    if (right && !right->used) {
        mt_pool_take(pool, right);
        mt_pool_join(pool, block);
    }
    if (left && !left->used) {
        mt_pool_take(pool, left);
        mt_pool_join(pool, left);
        block = left;
    }
    mt_pool_put(pool, block);
    /* LAB 10.8 END */
}

int64_t mt_pool_trim(mt_pool *pool)
{
    int64_t bytes = 0;
    /* LAB 10.9 BEGIN  Give back every segment that is one free block.
     * Hint: merging has made one block of a segment without used ones: its first, with nothing to its right.
     * mt_pool_give_back frees the segment, so take ->next before. */
    for (mt_pool_segment *s = mt_pool_segments(pool), *next; s; s = next) {
        next = s->next;
        if (!s->first->used && !s->first->right) {
            bytes += s->bytes;
            mt_pool_give_back(pool, s);
        }
    }
    /* LAB 10.9 END */
    return bytes;
}

mt_pool_block *mt_pool_retry(mt_pool *pool, mt_pool_sizes sizes)
{
    /* LAB 10.9 BEGIN  Make room, and ask the system again. */
    mt_pool_trim(pool);
    return mt_pool_grow(pool, sizes);
    /* LAB 10.9 END */
}
