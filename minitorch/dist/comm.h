/* comm.h -- collective operations between processes (ranks): one interface, several engines.
 *
 * Engines: mt_comm_self, for one process; MPI, threads of one process and NCCL come with lab 13. Used by labs 12 to 14.
 *
 * All ranks call the same collectives in the same order. Counts are elements. An operation that fails (a peer died, the
 * network failed) returns MT_ERR_UNAVAILABLE or MT_ERR_STOPPED with a message in mt_last_error; the buffers are then
 * undefined and only mt_comm_free may be called on the communicator.
 *
 * Asynchronous use: pass a handle. The caller must not touch the buffers until mt_wait returns.
 *     mt_request *sent;
 *     mt_all_reduce(comm, grads, n, MT_F32, MT_SUM, &sent);    // returns at once
 *     ...                                                      // compute
 *     mt_status status = mt_wait(sent);                        // once per handle; frees it
 * With NULL instead of a handle the call returns when the operation is done. */
#pragma once

#include "core/dtype.h"

MT_C_BEGIN

typedef struct mt_comm mt_comm;
typedef struct mt_request mt_request; /* an operation in progress */

typedef enum mt_reduce { MT_SUM, MT_MAX } mt_reduce;

/* What an engine implements; arguments are already checked. `request` is NULL or receives a handle, as above. */
typedef struct mt_comm_engine {
    const char *name; /* "self", "mpi", "nccl", "threads" */
    mt_status (*all_reduce)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op, mt_request **request);
    mt_status (*reduce_scatter)(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_reduce op,
                                mt_request **request);
    mt_status (*all_gather)(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_request **request);
    mt_status (*broadcast)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root, mt_request **request);
    mt_status (*send)(mt_comm *comm, const void *data, int64_t n, mt_dtype dtype, int to, mt_request **request);
    mt_status (*recv)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int from, mt_request **request);
    mt_status (*barrier)(mt_comm *comm);
    mt_status (*split)(mt_comm **out, mt_comm *comm, int color, int key);
    mt_status (*wait)(mt_request *request); /* blocks, then frees the request */
    void (*free)(mt_comm *comm);
} mt_comm_engine;

struct mt_comm {
    int rank, size; /* 0 <= rank < size */
    const mt_comm_engine *engine;
};

struct mt_request {
    mt_comm *comm; /* an engine appends its own fields */
};

/* mt_comm_self -- a communicator of one rank. Free it like any other. */
mt_comm *mt_comm_self(void);
void mt_comm_free(mt_comm *comm); /* NULL is allowed */

/* mt_comm_split -- collective: *out joins the ranks of comm that pass the same color >= 0, ordered by key, then by rank
 * in comm. It is independent of comm; free both. On failure *out is unchanged.   Aborts: color < 0. */
mt_status mt_comm_split(mt_comm **out, mt_comm *comm, int color, int key);

/* mt_all_reduce -- data [n] becomes, on every rank, the elementwise sum (or maximum) over all ranks. In place. */
mt_status mt_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op, mt_request **request);

/* mt_reduce_scatter -- in [size * n]; out [n] becomes the reduction over all ranks of part `rank`. out may be
 * in + rank * n. */
mt_status mt_reduce_scatter(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_reduce op,
                            mt_request **request);

/* mt_all_gather -- in [n]; out [size * n] becomes the in of all ranks, in order of rank. in may be out + rank * n. */
mt_status mt_all_gather(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_request **request);

/* mt_broadcast -- data [n] of root is copied to every rank. */
mt_status mt_broadcast(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root, mt_request **request);

/* mt_send, mt_recv -- data [n] to or from one other rank; messages between two ranks arrive in order.
 * Aborts: to or from the calling rank itself. */
mt_status mt_send(mt_comm *comm, const void *data, int64_t n, mt_dtype dtype, int to, mt_request **request);
mt_status mt_recv(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int from, mt_request **request);

/* mt_barrier -- returns when every rank has called it. */
mt_status mt_barrier(mt_comm *comm);

/* mt_wait -- block until the operation is done, free the handle, return its outcome; once per handle. NULL: MT_OK. */
mt_status mt_wait(mt_request *request);

MT_C_END
