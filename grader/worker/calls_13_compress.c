/* calls_13_compress.c -- how the worker calls steps 13.14 to 13.18: compression, and the step after local training. */
#include <stdlib.h>
#include <string.h>

#include "dist/compress.h"
#include "dist/local.h"
#include "worker/aborts.h"
#include "worker/calls_13.h"
#include "worker/calls_13_training.h"

void mg_call_onebit_pack(const mg_value *v) /* message; error, x [n] */
{
    mt_onebit_pack(v[0].u8, F(1), F(2), v[2].count);
}

void mg_call_onebit_unpack(const mg_value *v) /* out [n]; message */
{
    mt_onebit_unpack(F(0), v[1].u8, v[0].count);
}

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

void mg_call_topk_pack(const mg_value *v) /* index, value [k]; error, x [n] */
{
    mt_topk_pack(v[0].i32, F(1), F(2), F(3), v[3].count, v[0].count);
}

static void pack_or_abort(const mg_value *v)
{
    mt_topk_pack(v[1].i32, F(2), F(3), F(4), v[4].count, N(5));
}

void mg_call_topk_aborts(const mg_value *v) /* aborted [1]; index, value, error, x [n], k */
{
    v[0].i64s[0] = mg_aborts(pack_or_abort, v);
}

/* status [P], rows; data, error [P,n], numbers of the hub, k */
static mt_status topk(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    int64_t r = rank->base.rank, n = v[2].count / rank->base.size;
    v[0].i64s[r] = mt_topk_all_reduce(&rank->base, F(2) + r * n, n, N(5), F(3) + r * n);
    return MT_OK;
}

void mg_call_topk(const mg_value *v)
{
    mg_on_hub((int)v[0].count, v[4].i64s, v[1].i64s, topk, (void *)v);
}

/* status [P], rows; global, local, velocity [P,n], pending [P,delays,n], numbers of the hub, lr, momentum, seed,
 * round */
static mt_status outer(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    int64_t r = rank->base.rank, size = rank->base.size, n = v[2].count / size, slots = v[5].count / size / n;
    mt_outer o = { .n = n,
                   .global = F(2) + r * n,
                   .velocity = F(4) + r * n,
                   .lr = (double)S(7),
                   .momentum = (double)S(8),
                   .max_delay = slots - 1,
                   .pending = F(5) + r * n * slots,
                   .seed = (uint64_t)N(9),
                   .round = N(10) };
    rank->array = (const char *)o.pending;
    rank->bytes = n * slots * (int64_t)sizeof(float);
    v[0].i64s[r] = mt_outer_step(&rank->base, &o, F(3) + r * n);
    if (v[0].i64s[r] == MT_OK && o.round != N(10) + 1)
        v[0].i64s[r] = -1;
    return MT_OK;
}

void mg_call_outer(const mg_value *v)
{
    mg_on_hub((int)v[0].count, v[6].i64s, v[1].i64s, outer, (void *)v);
}
