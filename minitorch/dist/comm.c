/* comm.c -- the argument checks of all engines, and the engine for one rank; see comm.h. */
#include "dist/comm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- one rank: every collective is a copy ------------------------------------------------------ */

static mt_status done_at_once(mt_request **request)
{
    if (request)
        *request = NULL; /* mt_wait of NULL is MT_OK */
    return MT_OK;
}

static mt_status copy_once(void *out, const void *in, int64_t n, mt_dtype dtype, mt_request **request)
{
    if (out != in && n > 0)
        memcpy(out, in, (size_t)(n * mt_dtype_size(dtype)));
    return done_at_once(request);
}

static mt_status self_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op,
                                 mt_request **request)
{
    (void)comm, (void)data, (void)n, (void)dtype, (void)op;
    return done_at_once(request);
}

static mt_status self_reduce_scatter(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_reduce op,
                                     mt_request **request)
{
    (void)comm, (void)op;
    return copy_once(out, in, n, dtype, request);
}

static mt_status self_all_gather(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype,
                                 mt_request **request)
{
    (void)comm;
    return copy_once(out, in, n, dtype, request);
}

static mt_status self_broadcast(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root, mt_request **request)
{
    (void)comm, (void)data, (void)n, (void)dtype, (void)root;
    return done_at_once(request);
}

static mt_status self_barrier(mt_comm *comm)
{
    (void)comm;
    return MT_OK;
}

static mt_status self_split(mt_comm **out, mt_comm *comm, int color, int key)
{
    (void)comm, (void)color, (void)key;
    *out = mt_comm_self();
    return MT_OK;
}

static void self_free(mt_comm *comm)
{
    free(comm);
}

/* No send and recv: the checks below refuse every peer. No wait: no request is ever made. */
static const mt_comm_engine self_engine = {
    .name = "self",
    .all_reduce = self_all_reduce,
    .reduce_scatter = self_reduce_scatter,
    .all_gather = self_all_gather,
    .broadcast = self_broadcast,
    .barrier = self_barrier,
    .split = self_split,
    .free = self_free,
};

mt_comm *mt_comm_self(void)
{
    mt_comm *comm = malloc(sizeof *comm);
    MT_CHECK(comm, "out of memory");
    *comm = (mt_comm){ .rank = 0, .size = 1, .engine = &self_engine };
    return comm;
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
    return comm->engine->split(out, comm, color, key);
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
    return comm->engine->all_reduce(comm, data, n, dtype, op, request);
}

mt_status mt_reduce_scatter(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_reduce op,
                            mt_request **request)
{
    check_count("reduce_scatter", n);
    return comm->engine->reduce_scatter(comm, out, in, n, dtype, op, request);
}

mt_status mt_all_gather(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_request **request)
{
    check_count("all_gather", n);
    return comm->engine->all_gather(comm, out, in, n, dtype, request);
}

mt_status mt_broadcast(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root, mt_request **request)
{
    check_count("broadcast", n);
    MT_CHECK(root >= 0 && root < comm->size, "broadcast: there is no rank %d among %d", root, comm->size);
    return comm->engine->broadcast(comm, data, n, dtype, root, request);
}

mt_status mt_send(mt_comm *comm, const void *data, int64_t n, mt_dtype dtype, int to, mt_request **request)
{
    check_count("send", n);
    check_peer("send", comm, to);
    return comm->engine->send(comm, data, n, dtype, to, request);
}

mt_status mt_recv(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int from, mt_request **request)
{
    check_count("recv", n);
    check_peer("recv", comm, from);
    return comm->engine->recv(comm, data, n, dtype, from, request);
}

mt_status mt_barrier(mt_comm *comm)
{
    return comm->engine->barrier(comm);
}

mt_status mt_wait(mt_request *request)
{
    return request ? request->comm->engine->wait(request) : MT_OK;
}
