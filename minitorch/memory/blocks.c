/* blocks.c -- open addressing with linear probing; at most half of the slots are taken. See blocks.h. */
#include "memory/blocks.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 256 };

/* Addresses are multiples of 64: the product mixes all bits, the highest are used (Knuth, The Art of Computer
 * Programming 3, 6.4). */
static int64_t home(const mt_blocks *b, mt_device device, uint64_t address)
{
    uint64_t mixed = (address + (uint64_t)device) * UINT64_C(0x9E3779B97F4A7C15);
    return (int64_t)(mixed >> 32) & (b->slots - 1);
}

/* Where the block is, or the free slot where it belongs. */
static mt_block *place(const mt_blocks *b, mt_device device, uint64_t address)
{
    int64_t i = home(b, device, address);
    while (b->slot[i].bytes != 0 && (b->slot[i].address != address || b->slot[i].device != device))
        i = (i + 1) & (b->slots - 1);
    return &b->slot[i];
}

static void grow(mt_blocks *b)
{
    mt_blocks more = { .slots = b->slots ? 2 * b->slots : FIRST_SLOTS, .count = b->count };
    more.slot = mt_calloc(more.slots, sizeof *more.slot);
    for (int64_t i = 0; i < b->slots; i++)
        if (b->slot[i].bytes != 0)
            *place(&more, b->slot[i].device, b->slot[i].address) = b->slot[i];
    free(b->slot);
    *b = more;
}

void mt_blocks_put(mt_blocks *b, const mt_block *block)
{
    MT_CHECK(block->bytes > 0, "a block of %lld bytes", (long long)block->bytes);
    if (2 * (b->count + 1) > b->slots)
        grow(b);
    mt_block *at = place(b, block->device, block->address);
    b->count += at->bytes == 0;
    *at = *block;
}

const mt_block *mt_blocks_find(const mt_blocks *b, mt_device device, uint64_t address)
{
    const mt_block *at = b->count > 0 ? place(b, device, address) : NULL;
    return at && at->bytes != 0 ? at : NULL;
}

/* Blocks behind the gap that belong before it move into it: a search ends at the first free slot. */
void mt_blocks_remove(mt_blocks *b, mt_device device, uint64_t address)
{
    mt_block *gap = (mt_block *)mt_blocks_find(b, device, address);
    if (!gap)
        return;
    b->count--;
    for (int64_t i = gap - b->slot, hole = i;;) {
        b->slot[hole].bytes = 0;
        do {
            i = (i + 1) & (b->slots - 1);
            if (b->slot[i].bytes == 0)
                return;
        } while (((i - home(b, b->slot[i].device, b->slot[i].address)) & (b->slots - 1)) <
                 ((i - hole) & (b->slots - 1)));
        b->slot[hole] = b->slot[i];
        hole = i;
    }
}

void mt_blocks_free(mt_blocks *b)
{
    free(b->slot);
    *b = (mt_blocks){ 0 };
}
