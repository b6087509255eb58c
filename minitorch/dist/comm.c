/* comm.c -- the argument checks of all engines; see comm.h. */
#include "dist/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/span.h"

_Thread_local bool mt_comm_behind;

/* ---- for engines -------------------------------------------------------------------------------- */

const char *mt_collective_name(mt_collective_kind kind)
{
    static const char *const names[] = { "all_reduce", "reduce_scatter", "all_gather", "broadcast", "barrier" };
    return names[kind];
}

void mt_collective_words(char words[120], const mt_collective *call, int64_t number)
{
    snprintf(words, 120, "%s of %" PRId64 " %s%s (call %" PRId64 ")", mt_collective_name(call->kind), call->n,
             mt_dtype_name(call->dtype), call->op == MT_MAX ? ", max" : "", number);
}

static int by_color(const void *left, const void *right)
{
    const mt_split_wish *a = left, *b = right;
    if (a->color != b->color)
        return a->color < b->color ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->rank - b->rank;
}

void mt_split_sort(mt_split_wish *wishes, int count)
{
    qsort(wishes, (size_t)count, sizeof *wishes, by_color);
}

/* ---- the interface ------------------------------------------------------------------------------ */

void mt_comm_free(mt_comm *comm)
{
    if (comm)
        comm->engine->free(comm);
}

mt_status mt_comm_split(mt_comm **out, mt_comm *comm, int color, int key)
{
    MT_CHECK(color >= 0, "split: color %d", color);
    mt_status status = comm->engine->split(out, comm, color, key);
    for (mt_comm *made = status == MT_OK ? *out : NULL; made; made = made->channel) {
        made->network = comm->network;
        memcpy(made->way, comm->way, sizeof made->way);
    }
    return status;
}

static void add_traffic(mt_traffic *sum, const mt_traffic *sent)
{
    sum->messages += sent->messages;
    sum->bytes += sent->bytes;
    sum->values += sent->values;
}

static mt_status view_message(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    mt_comm_view *v = (mt_comm_view *)comm;
    add_traffic(&v->of->sent, &comm->sent);
    comm->sent = (mt_traffic){ 0 };
    return v->of->engine->message(v->of, data, bytes, v->first + peer * v->stride, is_send, request);
}

static mt_status no_collective(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    (void)comm, (void)request;
    MT_CHECK(false, "%s: a view has messages only: call what is made of them", mt_collective_name(call->kind));
    return MT_ERR_ARGUMENT;
}

void mt_comm_view_of(mt_comm_view *view, mt_comm *comm, int first, int stride, int size)
{
    static const mt_comm_engine engine = { .name = "view", .collective = no_collective, .message = view_message };
    int rank = (comm->rank - first) / mt_max(stride, 1);
    MT_CHECK(
        stride >= 1 && first >= 0 && size >= 1 && first + (size - 1) * stride < comm->size && rank >= 0 &&
            rank < size && first + rank * stride == comm->rank,
        "a view of %d of %d ranks, from rank %d on and %d apart: it must have rank %d, which calls, and all must exist",
        size, comm->size, first, stride, comm->rank);
    *view = (mt_comm_view){ { .rank = rank, .size = size, .engine = &engine }, comm, first, stride };
}

mt_traffic mt_comm_traffic(const mt_comm *comm)
{
    mt_traffic all = comm->sent;
    if (comm->channel)
        add_traffic(&all, &comm->channel->sent);
    return all;
}

static void check_count(const char *what, int64_t n)
{
    MT_CHECK(n >= 0, "%s: %" PRId64 " elements", what, n);
}

static void check_peer(const char *what, const mt_comm *comm, int peer)
{
    MT_CHECK(peer >= 0 && peer < comm->size, "%s: there is no rank %d among %d", what, peer, comm->size);
    MT_CHECK(peer != comm->rank, "%s: rank %d is the caller itself", what, peer);
}

mt_status mt_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op, mt_request **request)
{
    check_count("all_reduce", n);
    mt_collective call = { .kind = MT_ALL_REDUCE, .out = data, .in = data, .n = n, .dtype = dtype, .op = op };
    return comm->engine->collective(comm, &call, request);
}

mt_status mt_reduce_scatter(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_reduce op,
                            mt_request **request)
{
    check_count("reduce_scatter", n);
    mt_collective call = { .kind = MT_REDUCE_SCATTER, .out = out, .in = in, .n = n, .dtype = dtype, .op = op };
    return comm->engine->collective(comm, &call, request);
}

mt_status mt_all_gather(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_request **request)
{
    check_count("all_gather", n);
    mt_collective call = { .kind = MT_ALL_GATHER, .out = out, .in = in, .n = n, .dtype = dtype };
    return comm->engine->collective(comm, &call, request);
}

mt_status mt_broadcast(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root, mt_request **request)
{
    check_count("broadcast", n);
    MT_CHECK(root >= 0 && root < comm->size, "broadcast: there is no rank %d among %d", root, comm->size);
    mt_collective call = { .kind = MT_BROADCAST, .out = data, .in = data, .n = n, .dtype = dtype, .root = root };
    return comm->engine->collective(comm, &call, request);
}

mt_status mt_barrier(mt_comm *comm)
{
    return comm->engine->collective(comm, &(mt_collective){ .kind = MT_BARRIER, .dtype = MT_U8 }, NULL);
}

mt_status mt_send(mt_comm *comm, const void *data, int64_t n, mt_dtype dtype, int to, mt_request **request)
{
    check_count("send", n);
    check_peer("send", comm, to);
    comm->sent.messages++;
    comm->sent.bytes += n * mt_dtype_size(dtype);
    comm->sent.values += dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16 ? n * mt_dtype_size(dtype) : 0;
    return comm->engine->message(comm, (void *)(uintptr_t)data, n * mt_dtype_size(dtype), to, true, request);
}

mt_status mt_recv(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int from, mt_request **request)
{
    check_count("recv", n);
    check_peer("recv", comm, from);
    return comm->engine->message(comm, data, n * mt_dtype_size(dtype), from, false, request);
}

mt_status mt_wait(mt_request *request)
{
    MT_SPAN(mt_comm_behind ? "message" : MT_SPAN_WAIT);
    return request ? request->wait(request) : MT_OK;
}
