/* account.c -- live bytes by use and by op, and what they were at the peak. */
#include "memory/account.h"

#include <string.h>

/* bytes more, or less when negative, for what the block was allocated for. */
static void add(mt_account_sums *sums, const mt_block *block, int64_t bytes)
{
    sums->all += bytes;
    sums->use[block->use] += bytes;
    sums->op[block->op] += bytes;
}

void mt_account_live(mt_account *a, const mt_block *block)
{
    mt_account_sums *live = &a->device[block->device].live;
    /* TODO 10.10: What is live after an allocation or a free.
     * Hint: what mt_blocks_find finds at this address is live no more, whatever happens there now: subtract its bytes,
     * from its own use and op, and remove it. A block that is allocated is added and put into the table. */
    MT_TODO("10.10"); /* delete this line when yours stands here */
}

void mt_account_peak(mt_account_device *d, int op, int ops)
{
    /* TODO 10.11: The first moment of peak memory.
     * Hint: the most activations and the most gradients are live at different times: copy the sums of one moment.
     * peak.op and live.op are arrays of their own: copy their elements. */
    MT_TODO("10.11"); /* delete this line when yours stands here */
}
