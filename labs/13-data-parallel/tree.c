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
    /* TODO 13.3: In each step the number of ranks that have the data doubles.
     * Hint: places 0 .. reach - 1 have it. Ranks are places plus root, modulo size. */
    MT_TODO("13.3"); /* delete this line when yours stands here */
    return status;
}

mt_status mt_tree_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    mt_status status = MT_OK;
    void *arrived = room_for(n, dtype);
    /* TODO 13.3: The steps of the broadcast from rank 0 backwards: data is sent down, and reduced there. */
    MT_TODO("13.3"); /* delete this line when yours stands here */
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
    /* TODO 13.4: Both send and receive at the same time; data may change when it has been sent. */
    MT_TODO("13.4"); /* delete this line when yours stands here */
}

mt_status mt_doubling_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    mt_status status = MT_OK;
    void *arrived = room_for(n, dtype);
    int power = power_of_two(comm->size), rank = comm->rank;
    /* TODO 13.4: The ranks from power on give, the others exchange bit by bit, those from power on get. */
    MT_TODO("13.4"); /* delete this line when yours stands here */
    free(arrived);
    return status;
}

double mt_collective_seconds(mt_algorithm algorithm, int size, int64_t bytes, const mt_network *network)
{
    /* TODO 13.5: The number of steps, times what a message of a step takes. */
    MT_TODO("13.5"); /* delete this line when yours stands here */
}

mt_algorithm mt_collective_pick(int size, int64_t bytes, const mt_network *network)
{
    mt_algorithm best = MT_RING;
    /* TODO 13.5: The least of the three. */
    MT_TODO("13.5"); /* delete this line when yours stands here */
    return best;
}
