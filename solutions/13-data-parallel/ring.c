/* ring.c -- the ring algorithms; see dist/collectives.h.
 *
 * The ranks form a ring: each sends to the next, receives from the one before, and does both at the same time. The data
 * is cut into as many parts as there are ranks, so that in each step every link carries another part. */
#include <stdlib.h>

#include "dist/collectives.h"

/* A part of an array: where it begins, and its elements. */
typedef struct part {
    char *at;
    int64_t n;
} part;

static part part_of(const mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int index)
{
    int which = ((index % comm->size) + comm->size) % comm->size;
    int64_t begin = mt_part_begin(n, comm->size, which);
    return (part){ (char *)data + begin * mt_dtype_size(dtype), mt_part_begin(n, comm->size, which + 1) - begin };
}

/* Sends a part to the next rank while another arrives from the one before. */
static mt_status shift(mt_comm *comm, part out, part in, mt_dtype dtype)
{
    int next = (comm->rank + 1) % comm->size, before = (comm->rank + comm->size - 1) % comm->size;
    /* LAB 13.1 BEGIN  Send and receive at the same time.
     * Hint: a send without a handle may wait for its receive, and all ranks begin with the send. After a failure,
     * return its status: no handle is waited for any more. */
    mt_request *sent;
    mt_status status = mt_send(comm, out.at, out.n, dtype, next, &sent);
    if (status == MT_OK)
        status = mt_recv(comm, in.at, in.n, dtype, before, NULL);
    return status == MT_OK ? mt_wait(sent) : status;
    /* LAB 13.1 END */
}

mt_status mt_ring_reduce_scatter(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    mt_status status = MT_OK;
    void *arrived = malloc((size_t)(mt_ceil_div(n, comm->size) * mt_dtype_size(dtype)) + 1);
    MT_CHECK(arrived, "out of memory");
    /* LAB 13.1 BEGIN  size - 1 steps: a part goes out, another arrives and is reduced into its place in data.
     * Hint: which part does a rank send in the next step, if the last one that it reduces is to be its own? part_of
     * takes any index, also a negative one. */
    for (int step = 0; step < comm->size - 1 && status == MT_OK; step++) {
        part out = part_of(comm, data, n, dtype, comm->rank - 1 - step);
        part in = part_of(comm, data, n, dtype, comm->rank - 2 - step);
        status = shift(comm, out, (part){ arrived, in.n }, dtype);
        if (status == MT_OK)
            mt_reduce_into(in.at, arrived, in.n, dtype, op);
    }
    /* LAB 13.1 END */
    free(arrived);
    return status;
}

mt_status mt_ring_all_gather(mt_comm *comm, void *data, int64_t n, mt_dtype dtype)
{
    mt_status status = MT_OK;
    /* LAB 13.2 BEGIN  size - 1 steps: what arrived in one step goes out in the next. */
    for (int step = 0; step < comm->size - 1 && status == MT_OK; step++)
        status = shift(comm, part_of(comm, data, n, dtype, comm->rank - step),
                       part_of(comm, data, n, dtype, comm->rank - 1 - step), dtype);
    /* LAB 13.2 END */
    return status;
}

mt_status mt_ring_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    mt_status status = mt_ring_reduce_scatter(comm, data, n, dtype, op);
    return status == MT_OK ? mt_ring_all_gather(comm, data, n, dtype) : status;
}
