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
    /* TODO 13.21: Reduce-scatter inside, all-reduce of this rank's part across, all-gather inside.
     * Hint: mt_comm_view_of makes a communicator of the ranks of this node, and one of the ranks with this place in
     * all nodes; the functions of ring.c take &inside.base and &across.base. Which part has the rank after the first
     * of them? */
    MT_TODO("13.21"); /* delete this line when yours stands here */
    return status;
}

double mt_hierarchical_seconds(mt_algorithm algorithm, int size, int64_t bytes, const mt_nodes *nodes,
                               const mt_network *network)
{
    double seconds = 0;
    /* TODO 13.22: Steps inside of nodes, and steps between them.
     * Hint: the laws of step 13.5 for one node, or for as many ranks as there are nodes. A part need not have a whole
     * number of bytes. */
    MT_TODO("13.22"); /* delete this line when yours stands here */
    return seconds;
}

mt_algorithm mt_hierarchical_pick(int size, int64_t bytes, const mt_nodes *nodes, const mt_network *network)
{
    mt_algorithm best = MT_RING;
    /* TODO 13.22: The least of the four. */
    MT_TODO("13.22"); /* delete this line when yours stands here */
    return best;
}
