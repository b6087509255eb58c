/* counted.h -- for tests: a communicator that counts what it is asked for, and passes it on. */
#pragma once

#include <criterion/criterion.h>

#include "dist/comm.h"

typedef struct counted {
    mt_comm base;
    mt_comm *inner;
    int64_t calls, fails;           /* fails: the call that fails; -1: none */
    int64_t sums, maxima, gathered; /* elements of all-reduces in f32; bytes that ranks give to an all-gather */
    int64_t scattered;              /* elements that a reduce-scatter in f32 leaves this rank */
} counted;

static inline mt_status counted_collective(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    counted *c = (counted *)comm;
    if (call->kind == MT_ALL_GATHER) {
        c->gathered += call->n * mt_dtype_size(call->dtype);
    } else {
        bool is_whole = call->kind == MT_ALL_REDUCE;
        cr_assert((is_whole || call->kind == MT_REDUCE_SCATTER) && call->dtype == MT_F32);
        *(!is_whole ? &c->scattered : call->op == MT_SUM ? &c->sums : &c->maxima) += call->n;
    }
    if (c->calls++ == c->fails)
        return mt_fail(MT_ERR_UNAVAILABLE, "call %d fails", (int)c->fails);
    return c->inner->engine->collective(c->inner, call, request);
}

static inline counted new_counted(mt_comm *comm, int64_t fails)
{
    static const mt_comm_engine engine = { .name = "counted", .collective = counted_collective };
    return (counted){ { .rank = comm->rank, .size = comm->size, .engine = &engine }, comm, .fails = fails };
}
