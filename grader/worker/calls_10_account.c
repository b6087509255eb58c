/* calls_10_account.c -- how the worker calls accounts of memory. */
#include "memory/account.h"
#include "worker/calls_10.h"

#include <string.h>

static int64_t *put(int64_t *to, const int64_t *from, int64_t count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
    return to + count;
}

/* All, by use, by op. */
static int64_t *put_sums(int64_t *to, const mt_account_sums *sums, int64_t ops)
{
    to = put(to, &sums->all, 1);
    to = put(to, sums->use, MT_USES);
    return put(to, sums->op, ops);
}

static int64_t *put_peak(int64_t *to, const mt_account_device *d, int64_t ops)
{
    to = put_sums(to, &d->peak, ops);
    to = put(to, &(int64_t){ d->peak_op }, 1);
    return put(to, d->op_most, ops);
}

static mt_block block_of(const mg_value *v, int64_t n)
{
    return (mt_block){ (uint64_t)I64(addresses)[n], I64(bytes)[n],   (mt_device)I64(devices)[n],
                       (mt_memory_use)I64(uses)[n], (int)I64(op)[n], NULL };
}

void mg_call_account_live(const mg_value *v)
{
    int64_t ops = N(ops), *to = I64(live);
    mt_account account = mt_account_new((int)ops);
    for (int64_t n = 0; n < ARRAY(addresses)->count; n++) {
        const mt_block block = block_of(v, n);
        mt_account_live(&account, &block);
        for (int d = 0; d < MT_DEVICE_COUNT; d++)
            to = put_sums(to, &account.device[d].live, ops);
    }
    mt_account_free(&account);
}

void mg_call_account_note(const mg_value *v)
{
    int64_t ops = N(ops), *to = I64(peak);
    mt_account account = mt_account_new((int)ops);
    for (int64_t n = 0; n < ARRAY(addresses)->count; n++) {
        const mt_block block = block_of(v, n);
        mt_account_note(&account, &block);
    }
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        to = put_peak(to, &account.device[d], ops);
    mt_account_free(&account);
}

/* peak [N, 1 + uses + ops + 1 + ops] after each of N allocations; live [N, 1 + uses + ops], op [N]; ops */
void mg_call_account_peak(const mg_value *v)
{
    int64_t ops = N(ops), *to = I64(peak);
    const int64_t *live = I64(live);
    mt_account account = mt_account_new((int)ops);
    mt_account_device *d = &account.device[0];
    for (int64_t n = 0; n < ARRAY(op)->count; n++, live += 1 + MT_USES + ops) {
        d->live.all = live[0];
        put(d->live.use, live + 1, MT_USES);
        put(d->live.op, live + 1 + MT_USES, ops);
        mt_account_peak(d, (int)I64(op)[n], (int)ops);
        to = put_peak(to, d, ops);
    }
    mt_account_free(&account);
}
