/* calls_13_compress.c -- how the worker calls steps 13.14 to 13.18: compression, and the step after local training. */
#include <stdlib.h>
#include <string.h>

#include "dist/compress.h"
#include "dist/local.h"
#include "worker/calls_13.h"
#include "worker/calls_13_training.h"

/* The array of each rank is data [n], error [n] and part_error, one behind the other. */
static mt_status onebit(mt_comm *comm, void *data, const int64_t *numbers)
{
    int64_t n = numbers[MG_CALL_ROOT];
    float *x = data;
    return mt_onebit_all_reduce(comm, x, n, x + n, x + 2 * n);
}

void mg_call_onebit(const mg_value *v)
{
    mg_on_ranks(v, onebit);
}

static mt_status topk(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    int64_t r = rank->base.rank, n = ARRAY(data)->count / rank->base.size;
    I64(status)[r] = mt_topk_all_reduce(&rank->base, F(data) + r * n, n, N(k), F(error) + r * n);
    return MT_OK;
}

void mg_call_topk(const mg_value *v)
{
    mg_on_hub((int)ARRAY(status)->count, I64(numbers), I64(rows), topk, (void *)v);
}

static mt_status outer(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    int64_t r = rank->base.rank, size = rank->base.size, n = ARRAY(global)->count / size,
            slots = ARRAY(pending)->count / size / n;
    mt_outer o = { .n = n,
                   .global = F(global) + r * n,
                   .velocity = F(velocity) + r * n,
                   .lr = (double)S(lr),
                   .momentum = (double)S(momentum),
                   .max_delay = slots - 1,
                   .pending = F(pending) + r * n * slots,
                   .seed = (uint64_t)N(seed),
                   .round = N(round) };
    rank->array = (const char *)o.pending;
    rank->bytes = n * slots * (int64_t)sizeof(float);
    I64(status)[r] = mt_outer_step(&rank->base, &o, F(local) + r * n);
    if (I64(status)[r] == MT_OK && o.round != N(round) + 1)
        I64(status)[r] = -1;
    return MT_OK;
}

void mg_call_outer(const mg_value *v)
{
    mg_on_hub((int)ARRAY(status)->count, I64(numbers), I64(rows), outer, (void *)v);
}
