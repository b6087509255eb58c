/* calls_13.c -- the functions of lab 13 that the worker calls: collectives, their times, and the choice. */
#include "dist/collectives.h"
#include "dist/comm_thread.h"
#include "dist/compress.h"
#include "dist/ddp.h"
#include "dist/server.h"
#include "dist/zero.h"
#include "worker/calls_13.h"
#include "worker/calls_13_training.h"

#include <string.h>

#define N_OF     numbers[MG_CALL_N]
#define DTYPE_OF (mt_dtype) numbers[MG_CALL_DTYPE]
#define OP_OF    (mt_reduce) numbers[MG_CALL_OP]
#define ROOT_OF  (int)numbers[MG_CALL_ROOT]

#define COLLECTIVES(CALL)                               \
    CALL(mt_ring_reduce_scatter, N_OF, DTYPE_OF, OP_OF) \
    CALL(mt_ring_all_gather, N_OF, DTYPE_OF)            \
    CALL(mt_ring_all_reduce, N_OF, DTYPE_OF, OP_OF)     \
    CALL(mt_tree_broadcast, N_OF, DTYPE_OF, ROOT_OF)    \
    CALL(mt_tree_all_reduce, N_OF, DTYPE_OF, OP_OF)     \
    CALL(mt_doubling_all_reduce, N_OF, DTYPE_OF, OP_OF) \
    CALL(mt_hierarchical_all_reduce, N_OF, DTYPE_OF, OP_OF)

/* A rank that calls fn, and the call of all ranks. */
#define ON_RANKS(fn, ...)                                                         \
    static mt_status fn##_rank(mt_comm *comm, void *data, const int64_t *numbers) \
    {                                                                             \
        return fn(comm, data, __VA_ARGS__);                                       \
    }                                                                             \
    static void fn##_(const mg_value *v)                                          \
    {                                                                             \
        mg_on_ranks(v, fn##_rank);                                                \
    }
COLLECTIVES(ON_RANKS)

/* As an engine without collectives of its own calls it: the thread chooses, and its messages are noted. */
static mt_status chosen(mt_comm *comm, void *data, const int64_t *numbers)
{
    mt_comm_thread *thread = mt_comm_thread_new(comm, mg_ranks_clock(), false);
    mt_collective call = { .kind = MT_ALL_REDUCE, .out = data, .in = data, .n = N_OF, .dtype = DTYPE_OF, .op = OP_OF };
    mt_status status = mt_comm_thread_call(thread, &call, NULL);
    mt_comm_thread_free(thread);
    return status;
}

static void all_reduce(const mg_value *v)
{
    mg_on_ranks(v, chosen);
}

/* ---- the choice --------------------------------------------------------------------------------- */

static mt_network network_of(const mg_value *latency, const mg_value *byte_time, int64_t i)
{
    return (mt_network){ mg_number(latency->i64s[i]), mg_number(byte_time->i64s[i]) };
}

static void seconds(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(seconds)->count; i++) {
        mt_network network = network_of(ARRAY(latency), ARRAY(byte_time), i);
        double s = mt_collective_seconds((mt_algorithm)I64(algorithm)[i], (int)I64(size)[i], I64(bytes)[i], &network);
        memcpy(&I64(seconds)[i], &s, sizeof s);
    }
}

static void pick(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(algorithm)->count; i++) {
        mt_network network = network_of(ARRAY(latency), ARRAY(byte_time), i);
        I64(algorithm)[i] = mt_collective_pick((int)I64(size)[i], I64(bytes)[i], &network);
    }
}

/* The same where ranks are in nodes. */
static mt_nodes nodes_of(const mg_value *v, int64_t i)
{
    return (mt_nodes){ (int)I64(node)[i], network_of(ARRAY(inside latency), ARRAY(inside byte_time), i) };
}

static void hierarchical_seconds(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(seconds)->count; i++) {
        mt_network network = network_of(ARRAY(latency), ARRAY(byte_time), i);
        mt_nodes nodes = nodes_of(v, i);
        double s = mt_hierarchical_seconds((mt_algorithm)I64(algorithm)[i], (int)I64(size)[i], I64(bytes)[i], &nodes,
                                           &network);
        memcpy(&I64(seconds)[i], &s, sizeof s);
    }
}

static void hierarchical_pick(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(algorithm)->count; i++) {
        mt_network network = network_of(ARRAY(latency), ARRAY(byte_time), i);
        mt_nodes nodes = nodes_of(v, i);
        I64(algorithm)[i] = mt_hierarchical_pick((int)I64(size)[i], I64(bytes)[i], &nodes, &network);
    }
}

// clang-format off
#define CALLS(CALL, RESULT)                                                                                        \
    RESULT(mt_buckets_plan, I64(buckets)[0], ARRAY(bucket)->ptr, I64(begin), ARRAY(begin)->count - 1, N(limit))    \
    RESULT(mt_server_order, I64(count)[0], ARRAY(events)->ptr, N(updates), (const double *)I64(seconds),              \
           (int)ARRAY(seconds)->count, N(bound))                                                                      \
    CALL(mt_zero_overlap, F(into), N(begin), N(begin) + ARRAY(into)->count, F(from), N(from_begin),                \
         N(from_begin) + ARRAY(from)->count)                                                                       \
    CALL(mt_onebit_pack, U8(message), F(error), F(x), ARRAY(x)->count)                                             \
    CALL(mt_onebit_unpack, F(out), U8(message), ARRAY(out)->count)                                                 \
    CALL(mt_topk_pack, I32(index), F(value), F(error), F(x), ARRAY(x)->count, N(k))
CALLS(MG_THUNK, MG_RESULT)

const mg_function mg_calls_13[] = {
    COLLECTIVES(MG_ENTRY) CALLS(MG_ENTRY, MG_ENTRY)
    { "mt_all_reduce", all_reduce },
    { "mt_collective_seconds", seconds },
    { "mt_collective_pick", pick },
    { "mt_hierarchical_seconds", hierarchical_seconds },
    { "mt_hierarchical_pick", hierarchical_pick },
    { "mt_ddp", mg_call_ddp },
    { "mt_zero_part", mg_call_zero_part },
    { "mt_zero", mg_call_zero },
    { "mt_onebit_all_reduce", mg_call_onebit },
    { "mt_topk_all_reduce", mg_call_topk },
    { "mt_outer_step", mg_call_outer },
    { "mt_server_run", mg_call_server },
    { NULL, NULL },
};
