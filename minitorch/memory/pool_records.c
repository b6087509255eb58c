/* pool_records.c -- the records of a pool: segments, blocks and their neighbours, lists of free blocks, used
 * ones by address, statistics. What is decided is in the unit pool.c. */
#include "memory/blocks.h"
#include "memory/pool.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

struct mt_pool {
    pthread_mutex_t lock; /* of everything here */
    mt_allocator system;
    mt_pool_segment *oldest, *newest;
    mt_pool_block *list[MT_POOL_KINDS][MT_POOL_LISTS]; /* first free block */
    mt_blocks used;                                    /* by address, as of the CPU; record: the mt_pool_block */
    mt_pool_block *spare;                              /* records for reuse, linked by ->next */
    mt_pool_stats stats;
};

static mt_pool_block *new_block(mt_pool *pool, mt_pool_block with)
{
    mt_pool_block *b = pool->spare;
    if (b)
        pool->spare = b->next;
    else
        b = mt_calloc(1, sizeof *b);
    *b = with;
    return b;
}

static void drop_block(mt_pool *pool, mt_pool_block *b)
{
    b->next = pool->spare;
    pool->spare = b;
}

/* ---- lists of free blocks ---------------------------------------------------------------------------- */

int mt_pool_list(int64_t bytes)
{
    return 63 - __builtin_clzll((uint64_t)(bytes / MT_POOL_ROUND) | 1);
}

mt_pool_block *mt_pool_first(const mt_pool *pool, mt_pool_kind kind, int list)
{
    return pool->list[kind][list];
}

void mt_pool_put(mt_pool *pool, mt_pool_block *b)
{
    mt_pool_block **first = &pool->list[b->segment->kind][mt_pool_list(b->bytes)];
    b->used = false;
    b->previous = NULL;
    b->next = *first;
    if (b->next)
        b->next->previous = b;
    *first = b;
}

void mt_pool_take(mt_pool *pool, mt_pool_block *b)
{
    if (b->previous)
        b->previous->next = b->next;
    else
        pool->list[b->segment->kind][mt_pool_list(b->bytes)] = b->next;
    if (b->next)
        b->next->previous = b->previous;
    b->used = true;
}

/* ---- neighbours ---------------------------------------------------------------------------------------- */

mt_pool_block *mt_pool_cut(mt_pool *pool, mt_pool_block *b, int64_t bytes)
{
    MT_CHECK(bytes > 0 && bytes < b->bytes, "%" PRId64 " of %" PRId64 " bytes leave no rest", bytes, b->bytes);
    mt_pool_block *rest = new_block(pool, (mt_pool_block){ .data = b->data + bytes,
                                                           .bytes = b->bytes - bytes,
                                                           .used = true,
                                                           .segment = b->segment,
                                                           .left = b,
                                                           .right = b->right });
    if (rest->right)
        rest->right->left = rest;
    b->right = rest;
    b->bytes = bytes;
    return rest;
}

void mt_pool_join(mt_pool *pool, mt_pool_block *left)
{
    mt_pool_block *right = left->right;
    left->bytes += right->bytes;
    left->right = right->right;
    if (left->right)
        left->right->left = left;
    drop_block(pool, right);
}

/* ---- segments ------------------------------------------------------------------------------------------ */

mt_pool_segment *mt_pool_segments(const mt_pool *pool)
{
    return pool->oldest;
}

mt_pool_block *mt_pool_grow(mt_pool *pool, mt_pool_sizes sizes)
{
    mt_pool_stats *s = &pool->stats;
    s->system_calls++;
    char *data = pool->system.alloc(sizes.segment);
    if (!data)
        return NULL;
    mt_pool_segment *segment = mt_calloc(1, sizeof *segment);
    *segment = (mt_pool_segment){ .bytes = sizes.segment, .kind = sizes.kind, .previous = pool->newest };
    segment->first =
        new_block(pool, (mt_pool_block){ .data = data, .bytes = sizes.segment, .used = true, .segment = segment });
    *(pool->newest ? &pool->newest->next : &pool->oldest) = segment;
    pool->newest = segment;
    s->segments++;
    s->reserved += segment->bytes;
    s->peak_reserved = mt_max(s->peak_reserved, s->reserved);
    return segment->first;
}

void mt_pool_give_back(mt_pool *pool, mt_pool_segment *s)
{
    MT_CHECK(!s->first->used && !s->first->right, "a segment that is not one free block cannot be given back");
    mt_pool_take(pool, s->first);
    *(s->previous ? &s->previous->next : &pool->oldest) = s->next;
    *(s->next ? &s->next->previous : &pool->newest) = s->previous;
    pool->stats.segments--;
    pool->stats.reserved -= s->bytes;
    pool->system.free(s->first->data, s->bytes);
    drop_block(pool, s->first);
    free(s);
}

/* ---- a pool -------------------------------------------------------------------------------------------- */

mt_pool *mt_pool_open(mt_allocator system)
{
    mt_pool *pool = mt_calloc(1, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pool->system = system;
    return pool;
}

void mt_pool_close(mt_pool *pool)
{
    if (!pool)
        return;
    MT_CHECK(pool->stats.blocks == 0, "a pool with %" PRId64 " used blocks cannot be closed", pool->stats.blocks);
    while (pool->oldest)
        mt_pool_give_back(pool, pool->oldest);
    for (mt_pool_block *b = pool->spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    pthread_mutex_destroy(&pool->lock);
    mt_blocks_free(&pool->used);
    free(pool);
}

static void count(mt_pool_stats *s, int64_t wanted, int64_t used, int blocks)
{
    s->wanted += wanted;
    s->used += used;
    s->blocks += blocks;
    s->peak_wanted = mt_max(s->peak_wanted, s->wanted);
    s->peak_used = mt_max(s->peak_used, s->used);
}

bool mt_pool_reserve(mt_pool *pool, int64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    int64_t segment = mt_ceil_div(bytes, MT_POOL_STEP) * MT_POOL_STEP;
    mt_pool_block *b = mt_pool_grow(pool, (mt_pool_sizes){ .segment = segment, .kind = MT_POOL_OF_LARGE });
    if (b)
        mt_pool_put(pool, b);
    pthread_mutex_unlock(&pool->lock);
    return b != NULL;
}

void *mt_pool_alloc(mt_pool *pool, int64_t bytes)
{
    if (bytes > MT_POOL_LIMIT)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    mt_pool_sizes sizes = mt_pool_sizes_of(bytes);
    mt_pool_block *b = mt_pool_best_fit(pool, sizes.kind, sizes.block);
    pool->stats.allocations++;
    if (b)
        mt_pool_take(pool, b);
    else
        b = mt_pool_grow(pool, sizes);
    if (!b)
        b = mt_pool_retry(pool, sizes);
    if (b) {
        mt_pool_split(pool, b, sizes.block);
        b->wanted = bytes;
        count(&pool->stats, bytes, b->bytes, 1);
        mt_blocks_put(&pool->used, &(mt_block){ .address = (uintptr_t)b->data, .bytes = bytes, .record = b });
    }
    pthread_mutex_unlock(&pool->lock);
    return b ? b->data : NULL;
}

void mt_pool_free(mt_pool *pool, void *data, int64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    const mt_block *used = mt_blocks_find(&pool->used, MT_CPU, (uintptr_t)data);
    MT_CHECK(used, "the pool has no used block at %p", data);
    MT_CHECK(used->bytes == bytes, "a block of %" PRId64 " bytes is freed as %" PRId64, used->bytes, bytes);
    mt_pool_block *b = used->record;
    mt_blocks_remove(&pool->used, MT_CPU, (uintptr_t)data);
    count(&pool->stats, -bytes, -b->bytes, -1);
    b->wanted = 0;
    mt_pool_merge(pool, b);
    pthread_mutex_unlock(&pool->lock);
}

int64_t mt_pool_empty(mt_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    int64_t bytes = mt_pool_trim(pool);
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}

mt_pool_stats mt_pool_stats_of(mt_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    mt_pool_stats s = pool->stats;
    pthread_mutex_unlock(&pool->lock);
    return s;
}

void mt_pool_visit(mt_pool *pool, mt_pool_visitor *visit, void *user)
{
    pthread_mutex_lock(&pool->lock);
    for (const mt_pool_segment *s = pool->oldest; s; s = s->next)
        visit(user, s);
    pthread_mutex_unlock(&pool->lock);
}
