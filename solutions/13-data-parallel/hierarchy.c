/* hierarchy.c -- an all-reduce for ranks in nodes, and when it is the fastest; see dist/collectives.h.
 *
 * What goes from node to node is the sum of a whole node, and each rank of the node carries a part of it. */
#include "dist/collectives.h"

mt_status mt_hierarchical_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    int node = mt_max(comm->nodes.size, 1), place = comm->rank % node; /* in its node */
    mt_status status = MT_OK;
    mt_comm_view inside, across;
    MT_CHECK(comm->size % node == 0, "%d ranks are no nodes of %d", comm->size, node);
    /* LAB 13.21 BEGIN  Reduce-scatter inside, all-reduce of this rank's part across, all-gather inside.
     * Hint: mt_comm_view_of makes a communicator of the ranks of this node, and one of the ranks with this place in
     * all nodes; the functions of ring.c take &inside.base and &across.base. Which part has the rank after the first
     * of them? */
    mt_comm_view_of(&inside, comm, comm->rank - place, 1, node);
    mt_comm_view_of(&across, comm, place, node, comm->size / node);
    int64_t begin = mt_part_begin(n, node, place), end = mt_part_begin(n, node, place + 1);
    char *mine = (char *)data + begin * mt_dtype_size(dtype);
    status = mt_ring_reduce_scatter(&inside.base, data, n, dtype, op);
    if (status == MT_OK)
        status = mt_ring_all_reduce(&across.base, mine, end - begin, dtype, op);
    if (status == MT_OK)
        status = mt_ring_all_gather(&inside.base, data, n, dtype);
    /* LAB 13.21 END */
    return status;
}

double mt_hierarchical_seconds(mt_algorithm algorithm, int size, int64_t bytes, const mt_nodes *nodes,
                               const mt_network *network)
{
    double seconds = 0;
    /* LAB 13.22 BEGIN  Steps inside of nodes, and steps between them.
     * Hint: the laws of step 13.5 for one node, or for as many ranks as there are nodes. A part need not have a whole
     * number of bytes. */
    const int node = nodes->size, count = size / node;
    const mt_network *inside = &nodes->inside, *all = count > 1 ? network : inside;
    if (algorithm == MT_HIERARCHICAL)
        seconds = 2.0 * (node - 1) * (inside->latency + (double)bytes / node * inside->byte_time) +
                  2.0 * (count - 1) * (network->latency + (double)bytes / size * network->byte_time);
    else if (algorithm == MT_RING || (node & (node - 1)) != 0)
        seconds = mt_collective_seconds(algorithm, size, bytes, all);
    else
        seconds = mt_collective_seconds(algorithm, node, bytes, inside) +
                  mt_collective_seconds(algorithm, count, bytes, network);
    /* LAB 13.22 END */
    return seconds;
}

mt_algorithm mt_hierarchical_pick(int size, int64_t bytes, const mt_nodes *nodes, const mt_network *network)
{
    mt_algorithm best = MT_RING;
    /* LAB 13.22 BEGIN  The least of the four. */
    for (mt_algorithm next = MT_TREE; next <= MT_HIERARCHICAL; next++)
        if (mt_hierarchical_seconds(next, size, bytes, nodes, network) <
            mt_hierarchical_seconds(best, size, bytes, nodes, network))
            best = next;
    /* LAB 13.22 END */
    return best;
}
