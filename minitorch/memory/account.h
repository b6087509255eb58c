/* account.h -- what memory was used for when most of it was in use: bytes by use and by op.
 *
 *     mt_account account = mt_account_new(ops);
 *     for (...)
 *         mt_account_note(&account, &block);        // everything that was allocated and freed, in order
 *     const mt_account_device *cpu = &account.device[MT_CPU];
 *     printf("%lld of %lld bytes\n", cpu->peak.use[MT_USE_ACTIVATION], cpu->peak.all);
 *     mt_account_free(&account);
 *
 * Unit: solutions/10-memory/account.c */
#pragma once

#include "memory/blocks.h"

MT_C_BEGIN

/* Bytes of live blocks: all, by use, by the op that allocated them. all = sum of use = sum of op. */
typedef struct mt_account_sums {
    int64_t all, use[MT_USES];
    int64_t *op; /* [ops] */
} mt_account_sums;

typedef struct mt_account_device {
    mt_account_sums live; /* now */
    mt_account_sums peak; /* what was live when live.all was largest, for the first time */
    int peak_op;          /* whose allocation made the peak */
    int64_t *op_most;     /* [ops] the largest live.all right after an allocation of each op; 0: it had none */
} mt_account_device;

typedef struct mt_account {
    int ops;
    mt_account_device device[MT_DEVICE_COUNT];
    mt_blocks blocks; /* that are live */
} mt_account;

/* mt_account_new -- of ops 0 to ops - 1, with nothing live. Given. */
mt_account mt_account_new(int ops);
void mt_account_free(mt_account *account);

/* mt_account_note -- a block was allocated (bytes > 0) or freed (bytes < 0): mt_account_live, and mt_account_peak after
 * an allocation. Given. */
void mt_account_note(mt_account *account, const mt_block *block);

/* mt_account_live -- account->blocks, and device->live of the block's device, as they are after it.
 *   - A block counts for the use and the op of its allocation until it is freed; of a free only the address is known.
 *   - The free of an address at which nothing is live changes nothing.
 *   - An allocation at an address at which a block is live: that one was freed before, unseen.   Lab 10.10 */
void mt_account_live(mt_account *account, const mt_block *block);

/* mt_account_peak -- device->live has grown by an allocation of op: what this changes in peak, peak_op and op_most.
 * There are `ops` ops.   Lab 10.11 */
void mt_account_peak(mt_account_device *device, int op, int ops);

MT_C_END
