/* comm.h -- operations between processes (ranks): one interface, several engines.
 *
 * Engines: threads of one process (dist/threads.h), of which one may be all; processes (dist/mpi.h). All ranks call the
 * same collectives in the same order. Counts are elements. An operation that fails (a rank has left, nothing
 * came before the deadline, the ranks called different operations) returns MT_ERR_UNAVAILABLE with a message in
 * mt_last_error that names the rank; the buffers are then undefined and only mt_comm_free may be called on the
 * communicator.
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

/* MT_MAX of a NaN and anything is NaN, so that every rank learns of it. */
typedef enum mt_reduce { MT_SUM, MT_MAX } mt_reduce;

typedef enum mt_collective_kind {
    MT_ALL_REDUCE,
    MT_REDUCE_SCATTER,
    MT_ALL_GATHER,
    MT_BROADCAST,
    MT_BARRIER,
} mt_collective_kind;

/* One call of a collective, as an engine gets it. */
typedef struct mt_collective {
    mt_collective_kind kind;
    void *out; /* in place for MT_ALL_REDUCE and MT_BROADCAST: in == out */
    const void *in;
    int64_t n; /* elements, as the functions below count them */
    mt_dtype dtype;
    mt_reduce op; /* MT_ALL_REDUCE, MT_REDUCE_SCATTER */
    int root;     /* MT_BROADCAST */
} mt_collective;

/* What an engine implements; arguments are already checked. `request` is NULL or receives a handle, as above. */
typedef struct mt_comm_engine {
    const char *name; /* "self", "threads", "mpi" */
    mt_status (*collective)(mt_comm *comm, const mt_collective *call, mt_request **request);
    mt_status (*message)(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request);
    mt_status (*split)(mt_comm **out, mt_comm *comm, int color, int key);
    void (*free)(mt_comm *comm);
} mt_comm_engine;

/* A message of b bytes between two ranks takes latency + b * byte_time seconds. */
typedef struct mt_network {
    double latency, byte_time;
} mt_network;

/* Ranks 0 .. size - 1 are in one node, the next `size` ranks in another, and so on. A message between two ranks of a
 * node takes as long as `inside` says. size 0: the nodes are not known. */
typedef struct mt_nodes {
    int size;
    mt_network inside;
} mt_nodes;

/* What a rank has sent. */
typedef struct mt_traffic {
    int64_t messages, bytes;
    int64_t values; /* the part of bytes that is f32, f16 or bf16: parameters, gradients, activations */
} mt_traffic;

struct mt_comm {
    int rank, size; /* 0 <= rank < size */
    const mt_comm_engine *engine;
    mt_network network; /* by which collectives choose their algorithm, */
    mt_nodes nodes;     /* and by which; a communicator that was split off does not know them, */
    uint8_t way[16];    /* unless this is set: 1 + the mt_algorithm of an all-reduce of about 4^i bytes; 0: it is not */
    mt_traffic sent;    /* by mt_send of this communicator */
    mt_comm *channel;   /* of the same ranks, for the messages of collectives; NULL: the engine has its own ways */
    const int *numbers; /* [size] what messages call its ranks: their ranks before any split. NULL: 0, 1, ... */
};

static inline int mt_comm_number(const mt_comm *comm, int rank)
{
    return comm->numbers ? comm->numbers[rank] : rank;
}

struct mt_request {
    mt_status (*wait)(mt_request *request); /* blocks, then frees the request; the engine appends its own fields */
};

/* ---- for engines ------------------------------------------------------------------------------------------------ */

/* mt_begun -- what a call returns whose operation has begun: *request is its handle; or NULL, and it is waited for. */
static inline mt_status mt_begun(mt_request *begun, mt_request **request)
{
    if (!request)
        return begun->wait(begun);
    *request = begun;
    return MT_OK;
}

/* mt_collective_words -- "all_reduce of 7 f32, max (call 3)"; mt_collective_name -- its first word. */
void mt_collective_words(char words[120], const mt_collective *call, int64_t number);
const char *mt_collective_name(mt_collective_kind kind);

/* What a rank asks for in a split; `tag` is the engine's. mt_split_sort -- by color, key, rank. */
typedef struct mt_split_wish {
    int color, key, rank, tag;
} mt_split_wish;

void mt_split_sort(mt_split_wish *wishes, int count);

/* Whether this thread runs a collective. Its waits for messages are then not waiting time in profiles: either the
 * caller computes at the same time, or the whole call is its waiting time. */
extern __thread bool mt_comm_behind;

/* ---- for callers ------------------------------------------------------------------------------------------------ */

/* mt_comm_free -- leaves the communicator: operations that other ranks have begun with this one and that it has not
 * joined fail on their side. Waits for no rank. NULL is allowed. */
void mt_comm_free(mt_comm *comm);

/* mt_comm_split -- collective: *out joins the ranks of comm that pass the same color >= 0, ordered by key, then by rank
 * in comm. It is independent of comm, and chooses algorithms as comm does; free both. On failure *out is unchanged.
 * Aborts: color < 0. */
mt_status mt_comm_split(mt_comm **out, mt_comm *comm, int color, int key);

/* mt_comm_view_of -- without a call of the other ranks: *view joins the ranks first, first + stride, ... of comm,
 * `size` of them, the caller among them. It has mt_send, mt_recv and what is made of these, no mt_all_reduce and no
 * split; its messages are those of comm, and are counted there. It needs no mt_comm_free, and comm as long as it is
 * used. Aborts: the caller is none of these ranks, or comm does not have all of them. */
typedef struct mt_comm_view {
    mt_comm base;
    mt_comm *of;
    int first, stride;
} mt_comm_view;

void mt_comm_view_of(mt_comm_view *view, mt_comm *comm, int first, int stride, int size);

/* mt_comm_traffic -- what this rank has sent by mt_send and in collectives that have ended. */
mt_traffic mt_comm_traffic(const mt_comm *comm);

/* mt_all_reduce -- data [n] becomes, on every rank, the elementwise sum (or maximum) over all ranks, with the same bits
 * on all of them. In place. */
mt_status mt_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op, mt_request **request);

/* mt_reduce_scatter -- in [size * n]; out [n] becomes the reduction over all ranks of part `rank`. out may be
 * in + rank * n; the rest of in is not changed. */
mt_status mt_reduce_scatter(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_reduce op,
                            mt_request **request);

/* mt_all_gather -- in [n]; out [size * n] becomes the in of all ranks, in order of rank. in may be out + rank * n. */
mt_status mt_all_gather(mt_comm *comm, void *out, const void *in, int64_t n, mt_dtype dtype, mt_request **request);

/* mt_broadcast -- data [n] of root is copied to every rank. */
mt_status mt_broadcast(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root, mt_request **request);

/* mt_send, mt_recv -- data [n] to or from one other rank; messages between two ranks arrive in order. A send may wait
 * for its receive: two ranks that both send first and without a handle wait for each other.
 * Aborts: to or from the calling rank itself. */
mt_status mt_send(mt_comm *comm, const void *data, int64_t n, mt_dtype dtype, int to, mt_request **request);
mt_status mt_recv(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int from, mt_request **request);

/* mt_barrier -- returns when every rank has called it. */
mt_status mt_barrier(mt_comm *comm);

/* mt_wait -- block until the operation is done, free the handle, return its outcome; once per handle. NULL: MT_OK. */
mt_status mt_wait(mt_request *request);

MT_C_END
