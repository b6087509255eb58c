/* blocks.h -- the blocks of memory that are live, found by device and address: a hash table.
 *
 *     mt_blocks blocks = { 0 };
 *     mt_blocks_put(&blocks, &block);
 *     const mt_block *found = mt_blocks_find(&blocks, block.device, block.address);    // NULL: there is none
 *     mt_blocks_remove(&blocks, block.device, block.address);
 *     mt_blocks_free(&blocks);
 *
 * Each call takes constant time on average. */
#pragma once

#include "core/storage.h"

MT_C_BEGIN

/* What happened to a block: bytes > 0, it was allocated; bytes < 0, freed. */
typedef struct mt_block {
    uint64_t address;
    int64_t bytes;
    mt_device device;
    mt_memory_use use; /* of a block that is allocated; says nothing when it is freed */
    int op;            /* the number of the op that was running then */
    void *record;      /* what else the owner of the table knows about it */
} mt_block;

typedef struct mt_blocks {
    mt_block *slot; /* bytes 0: free */
    int64_t slots, count;
} mt_blocks;

/* mt_blocks_put -- add a copy; in place of the one at that address, if there is one. bytes > 0. */
void mt_blocks_put(mt_blocks *blocks, const mt_block *block);

/* mt_blocks_find -- the block at this address, lent until the next put or remove; NULL: there is none. */
const mt_block *mt_blocks_find(const mt_blocks *blocks, mt_device device, uint64_t address);

/* mt_blocks_remove -- nothing when there is none. */
void mt_blocks_remove(mt_blocks *blocks, mt_device device, uint64_t address);

void mt_blocks_free(mt_blocks *blocks);

MT_C_END
