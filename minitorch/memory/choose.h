/* choose.h -- which blocks of a model to compute again in backward: the fewest FLOPs under a budget of bytes.
 *
 * Forward keeps something of each block, and backward needs more memory while it is at that block. Its peak over blocks
 * 0 .. L-1, whose kept bytes backward frees from the last one on, is
 *
 *                max over i of   kept of blocks 0 .. i  +  work of block i
 *
 * A block that is computed again keeps less and works more. So the same option costs more memory in a late block, where
 * all earlier ones are still kept, than in an early one.
 *
 *     mt_memory_block block = { .options = 2, .option = { { kept, work, 0 }, { input, work + kept, flops } } };
 *     mt_memory_block blocks[] = { block, block, block };
 *     int option[3];
 *     mt_memory_choice choice;
 *     if (mt_memory_choose(&choice, option, blocks, 3, budget) != MT_OK)
 *         die(mt_last_error());                              // says the least budget
 *
 * Unit: solutions/10-memory/choose.c */
#pragma once

#include "core/base.h"

MT_C_BEGIN

enum { MT_MEMORY_OPTIONS = 4 };

typedef struct mt_memory_option {
    int64_t kept;  /* bytes that forward keeps of the block for its backward */
    int64_t work;  /* bytes that its backward has at most beside them and those of the blocks before */
    int64_t flops; /* to compute it again */
} mt_memory_option;

typedef struct mt_memory_block {
    mt_memory_option option[MT_MEMORY_OPTIONS];
    int options; /* 1 .. MT_MEMORY_OPTIONS; with one there is nothing to choose */
} mt_memory_block;

typedef struct mt_memory_choice {
    int64_t peak;  /* as above, <= budget */
    int64_t kept;  /* sum over the blocks */
    int64_t flops; /* sum over the blocks */
} mt_memory_choice;

/* mt_memory_least -- the smallest budget that any choice meets, 0 without blocks.   Lab 10.5 */
int64_t mt_memory_least(const mt_memory_block *blocks, int64_t count);

/* mt_memory_choose -- option[i] for each of `count` blocks, so that the peak is within the budget and the FLOPs are the
 * fewest; of several such choices one that keeps the fewest bytes, the same one each time.
 *   option [count]; bytes and FLOPs >= 0, of all blocks together below 2^63
 * Exact. Time and memory grow with the number of different sums of kept bytes that no other sum beats in both: count^2
 * / 2 of them for equal blocks with three options; in the worst case exponentially.
 * Fails: MT_ERR_ARGUMENT, with mt_memory_least in the message: the budget is smaller.
 * Source: sequential decisions with dominated states removed, Nemhauser and Ullmann 1969; Herrmann et al. 2019,
 * arXiv:1911.13214, for chains of layers.   Lab 10.5 */
mt_status mt_memory_choose(mt_memory_choice *out, int *option, const mt_memory_block *blocks, int64_t count,
                           int64_t budget);

MT_C_END
