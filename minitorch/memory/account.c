/* account.c -- makes, prints and frees an account; unit account.c of lab 10 computes what it holds. See account.h. */
#include "memory/account.h"

#include <stdlib.h>

mt_account mt_account_new(int ops)
{
    mt_account account = { .ops = ops };
    MT_CHECK(ops >= 1, "an account of %d ops", ops);
    for (int d = 0; d < MT_DEVICE_COUNT; d++) {
        account.device[d].live.op = mt_calloc(ops, sizeof(int64_t));
        account.device[d].peak.op = mt_calloc(ops, sizeof(int64_t));
        account.device[d].op_most = mt_calloc(ops, sizeof(int64_t));
    }
    return account;
}

void mt_account_free(mt_account *account)
{
    for (int d = 0; d < MT_DEVICE_COUNT; d++) {
        free(account->device[d].live.op);
        free(account->device[d].peak.op);
        free(account->device[d].op_most);
    }
    mt_blocks_free(&account->blocks);
    *account = (mt_account){ 0 };
}

void mt_account_note(mt_account *account, const mt_block *block)
{
    mt_account_live(account, block);
    if (block->bytes > 0)
        mt_account_peak(&account->device[block->device], block->op, account->ops);
}
