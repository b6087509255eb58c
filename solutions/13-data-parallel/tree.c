/* tree.c -- trees, recursive doubling, and the choice between them and the ring; see dist/collectives.h.
 *
 * All of the data travels in each message, and so the number of steps grows with log2(size) instead of size. */
#include <stdlib.h>

#include "dist/collectives.h"

/* Receives what another rank has and reduces it into data; `arrived` has room for it. */
static mt_status receive_and_reduce(mt_comm *comm, void *data, void *arrived, int64_t n, mt_dtype dtype, mt_reduce op,
                                    int from)
{
    mt_status status = mt_recv(comm, arrived, n, dtype, from, NULL);
    if (status == MT_OK)
        mt_reduce_into(data, arrived, n, dtype, op);
    return status;
}

static void *room_for(int64_t n, mt_dtype dtype)
{
    void *room = malloc((size_t)(n * mt_dtype_size(dtype)) + 1);
    MT_CHECK(room, "out of memory");
    return room;
}

mt_status mt_tree_broadcast(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root)
{
    mt_status status = MT_OK;
    int place = (comm->rank - root + comm->size) % comm->size; /* numbered from the root */
    /* LAB 13.3 BEGIN  In each step the number of ranks that have the data doubles.
     * Hint: places 0 .. reach - 1 have it. Ranks are places plus root, modulo size. */
    for (int reach = 1; reach < comm->size && status == MT_OK; reach *= 2) {
        if (place < reach && place + reach < comm->size)
            status = mt_send(comm, data, n, dtype, (comm->rank + reach) % comm->size, NULL);
        else if (place >= reach && place < 2 * reach)
            status = mt_recv(comm, data, n, dtype, (comm->rank - reach + comm->size) % comm->size, NULL);
    }
    /* LAB 13.3 END */
    return status;
}

mt_status mt_tree_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    mt_status status = MT_OK;
    void *arrived = room_for(n, dtype);
    /* LAB 13.3 BEGIN  The steps of the broadcast from rank 0 backwards: data is sent down, and reduced there. */
    int below = 1;
    while (below < comm->size)
        below *= 2;
    for (below /= 2; below >= 1 && status == MT_OK; below /= 2) {
        if (comm->rank < below && comm->rank + below < comm->size)
            status = receive_and_reduce(comm, data, arrived, n, dtype, op, comm->rank + below);
        else if (comm->rank >= below && comm->rank < 2 * below)
            status = mt_send(comm, data, n, dtype, comm->rank - below, NULL);
    }
    /* LAB 13.3 END */
    free(arrived);
    return status == MT_OK ? mt_tree_broadcast(comm, data, n, dtype, 0) : status;
}

/* The largest power of two that is not above size. */
static int power_of_two(int size)
{
    int power = 1;
    while (power * 2 <= size)
        power *= 2;
    return power;
}

/* Data goes to another rank while that rank's comes here, and is reduced. */
static mt_status exchange_and_reduce(mt_comm *comm, void *data, void *arrived, int64_t n, mt_dtype dtype, mt_reduce op,
                                     int peer)
{
    /* LAB 13.4 BEGIN  Both send and receive at the same time; data may change when it has been sent. */
    mt_request *sent;
    mt_status status = mt_send(comm, data, n, dtype, peer, &sent);
    if (status == MT_OK)
        status = mt_recv(comm, arrived, n, dtype, peer, NULL);
    if (status == MT_OK)
        status = mt_wait(sent);
    if (status == MT_OK)
        mt_reduce_into(data, arrived, n, dtype, op);
    return status;
    /* LAB 13.4 END */
}

mt_status mt_doubling_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    mt_status status = MT_OK;
    void *arrived = room_for(n, dtype);
    int power = power_of_two(comm->size), rank = comm->rank;
    /* LAB 13.4 BEGIN  The ranks from power on give, the others exchange bit by bit, those from power on get. */
    bool above = rank >= power, has_one_above = rank + power < comm->size;
    if (above)
        status = mt_send(comm, data, n, dtype, rank - power, NULL);
    else if (has_one_above)
        status = receive_and_reduce(comm, data, arrived, n, dtype, op, rank + power);
    for (int bit = 1; bit < power && !above && status == MT_OK; bit *= 2)
        status = exchange_and_reduce(comm, data, arrived, n, dtype, op, rank ^ bit);
    if (status == MT_OK && above)
        status = mt_recv(comm, data, n, dtype, rank - power, NULL);
    else if (status == MT_OK && has_one_above)
        status = mt_send(comm, data, n, dtype, rank + power, NULL);
    /* LAB 13.4 END */
    free(arrived);
    return status;
}

double mt_collective_seconds(mt_algorithm algorithm, int size, int64_t bytes, const mt_network *network)
{
    /* LAB 13.5 BEGIN  The number of steps, times what a message of a step takes. */
    int power = power_of_two(size), log2 = 0;
    while (1 << log2 < power)
        log2++;
    int up = log2 + (power < size); /* the logarithm, rounded up */
    double whole = network->latency + (double)bytes * network->byte_time;
    switch (algorithm) {
    case MT_RING:
        return 2.0 * (size - 1) * (network->latency + (double)bytes / size * network->byte_time);
    case MT_TREE:
        return 2.0 * up * whole;
    case MT_DOUBLING:
        return (log2 + (power < size ? 2 : 0)) * whole;
    default: /* hierarchy.c */
        break;
    }
    return 0;
    /* LAB 13.5 END */
}

mt_algorithm mt_collective_pick(int size, int64_t bytes, const mt_network *network)
{
    mt_algorithm best = MT_RING;
    /* LAB 13.5 BEGIN  The least of the three. */
    for (mt_algorithm next = MT_TREE; next <= MT_DOUBLING; next++)
        if (mt_collective_seconds(next, size, bytes, network) < mt_collective_seconds(best, size, bytes, network))
            best = next;
    /* LAB 13.5 END */
    return best;
}
