/* collectives.c -- the given part of collectives.h: two arrays added up, and which all-reduce a communicator takes. */
#include "dist/collectives.h"
#include "core/dtype.h"

#include <math.h>
#include <stdlib.h>

/* +0 is larger than -0, and NaN larger than any number, whichever comes first. */
static float larger(float a, float b)
{
    if (a == b)
        return signbit(a) ? b : a;
    return a > b || isnan(a) ? a : b;
}

#define REDUCE_INTEGERS(type, wide)                                                            \
    do {                                                                                       \
        type *a = into;                                                                        \
        const type *b = from;                                                                  \
        for (int64_t i = 0; i < n; i++)                                                        \
            a[i] = op == MT_SUM ? (type)((wide)a[i] + (wide)b[i]) : a[i] > b[i] ? a[i] : b[i]; \
    } while (0)

#define REDUCE_HALVES(type, widen, narrow)                      \
    do {                                                        \
        type *a = into;                                         \
        const type *b = from;                                   \
        for (int64_t i = 0; i < n; i++) {                       \
            float x = widen(a[i]), y = widen(b[i]);             \
            a[i] = narrow(op == MT_SUM ? x + y : larger(x, y)); \
        }                                                       \
    } while (0)

static void reduce_f32(float *a, const float *b, int64_t n, mt_reduce op)
{
    if (op == MT_SUM)
        for (int64_t i = 0; i < n; i++)
            a[i] += b[i];
    else
        for (int64_t i = 0; i < n; i++)
            a[i] = larger(a[i], b[i]);
}

void mt_reduce_into(void *into, const void *from, int64_t n, mt_dtype dtype, mt_reduce op)
{
    switch (dtype) {
    case MT_F32:
        reduce_f32(into, from, n, op);
        return;
    case MT_F16:
        REDUCE_HALVES(mt_f16, mt_f16_to_f32, mt_f16_from_f32);
        return;
    case MT_BF16:
        REDUCE_HALVES(mt_bf16, mt_bf16_to_f32, mt_bf16_from_f32);
        return;
    case MT_I32:
        REDUCE_INTEGERS(int32_t, uint32_t);
        return;
    case MT_I64:
        REDUCE_INTEGERS(int64_t, uint64_t);
        return;
    case MT_U8:
        REDUCE_INTEGERS(uint8_t, uint32_t);
        return;
    }
}

/* ---- the choice of a communicator ------------------------------------------------------------------------ */

enum { WAYS = MT_HIERARCHICAL + 1 };

/* The i with 4^i nearest to bytes, by their ratio. */
static int nearest(int64_t bytes)
{
    int log2 = 0;
    while (log2 < 62 && (int64_t)2 << log2 <= bytes)
        log2++;
    return mt_min((log2 + 1) / 2, (int)MT_COUNT(((mt_comm *)0)->way) - 1);
}

static bool has_nodes(const mt_comm *comm)
{
    return comm->nodes.size > 1 && comm->size > comm->nodes.size && comm->size % comm->nodes.size == 0;
}

mt_algorithm mt_collective_choice(const mt_comm *comm, int64_t bytes)
{
    int way = comm->way[nearest(bytes)];
    if (way)
        return (mt_algorithm)(way - 1);
    return has_nodes(comm) ? mt_hierarchical_pick(comm->size, bytes, &comm->nodes, &comm->network)
                           : mt_collective_pick(comm->size, bytes, &comm->network);
}

static void set(mt_comm *comm, int i, mt_algorithm algorithm)
{
    for (mt_comm *c = comm; c; c = c->channel)
        c->way[i] = (uint8_t)(1 + algorithm);
}

void mt_collective_fix(mt_comm *comm, mt_algorithm algorithm)
{
    for (int i = 0; i < (int)MT_COUNT(comm->way); i++)
        set(comm, i, algorithm);
}

mt_status mt_collective_all_reduce(mt_algorithm algorithm, mt_comm *comm, void *data, int64_t n, mt_dtype dtype,
                                   mt_reduce op)
{
    static mt_status (*const reduce[WAYS])(mt_comm *, void *, int64_t, mt_dtype, mt_reduce) = {
        [MT_RING] = mt_ring_all_reduce,
        [MT_TREE] = mt_tree_all_reduce,
        [MT_DOUBLING] = mt_doubling_all_reduce,
        [MT_HIERARCHICAL] = mt_hierarchical_all_reduce,
    };
    return reduce[algorithm](comm, data, n, dtype, op);
}

/* One all-reduce of zeros, from a barrier on: seconds of the slowest rank, on all ranks. */
static mt_status try(mt_comm *comm, float *seconds, float *data, int64_t n, int way)
{
    mt_status status = mt_barrier(comm);
    double start = mt_now();
    if (status == MT_OK)
        status = mt_collective_all_reduce((mt_algorithm)way, comm, data, n, MT_F32, MT_SUM);
    *seconds = (float)(mt_now() - start);
    return status == MT_OK ? mt_all_reduce(comm, seconds, 1, MT_F32, MT_MAX, NULL) : status;
}

/* The fastest for n elements; they take turns, so that what disturbs the machine disturbs all. */
static mt_status fastest(mt_comm *comm, mt_algorithm *best, float *data, int64_t n, int rounds)
{
    float least[WAYS] = { INFINITY, INFINITY, INFINITY, INFINITY }, seconds;
    int ways = has_nodes(comm) ? WAYS : MT_HIERARCHICAL;
    mt_status status = MT_OK;
    for (int i = 0; i < rounds * ways && status == MT_OK; i++) {
        status = try(comm, &seconds, data, n, i % ways);
        least[i % ways] = fminf(least[i % ways], seconds);
    }
    *best = MT_RING;
    for (int way = MT_TREE; way < WAYS; way++)
        if (least[way] < least[*best])
            *best = (mt_algorithm)way;
    return status;
}

mt_status mt_collective_measure(mt_comm *comm)
{
    enum { FIRST = 4, LAST = 11 }; /* 256 bytes and 4 MiB: below and above, as there */
    mt_algorithm best[LAST + 1];
    mt_status status = MT_OK;
    float *data = mt_calloc(1, (size_t)1 << 2 * LAST);
    for (int i = FIRST; i <= LAST && status == MT_OK && comm->size > 1; i++) {
        int64_t n = ((int64_t)1 << 2 * i) / (int64_t)sizeof *data;
        status = fastest(comm, &best[i], data, n, i <= 6 ? 80 : i <= 8 ? 20 : 3);
    }
    free(data);
    for (int i = 0; i < (int)MT_COUNT(comm->way) && status == MT_OK && comm->size > 1; i++)
        set(comm, i, best[mt_min(mt_max(i, FIRST), LAST)]);
    return status;
}
