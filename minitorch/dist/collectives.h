/* collectives.h -- all-reduce and the others, built from messages: the units of lab 13 (ring.c, tree.c, hierarchy.c).
 *
 * Of size ranks, rank r has the part mt_part_begin(n, size, r) up to mt_part_begin(n, size, r + 1) of n elements. All
 * take any n >= 0 and any size >= 1; a part may be empty, and is then sent as a message of 0 bytes. Each rank calls
 * with the same arguments but for its data. They return the first failure of a message. */
#pragma once

#include "dist/comm.h"

MT_C_BEGIN

static inline int64_t mt_part_begin(int64_t n, int size, int rank)
{
    return n / size * rank + mt_min(rank, n % size);
}

/* ---- ring.c: as few bytes as possible ----------------------------------------------------------- */

/* mt_ring_reduce_scatter -- data [n] in place: afterwards part `rank` is reduced over all ranks; the other parts are
 * undefined. size - 1 messages a rank, each of one part, to rank + 1.   Lab 13.1 */
mt_status mt_ring_reduce_scatter(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

/* mt_ring_all_gather -- data [n] in place: part `rank` goes to all ranks. size - 1 messages a rank, to rank + 1.
 * Lab 13.2 */
mt_status mt_ring_all_gather(mt_comm *comm, void *data, int64_t n, mt_dtype dtype);

/* mt_ring_all_reduce -- both, one after the other: 2 (size - 1) messages and 2 n (size - 1) / size elements a rank. */
mt_status mt_ring_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

/* ---- tree.c: as few steps as possible ----------------------------------------------------------- */

/* mt_tree_broadcast -- data [n] of root goes to all ranks in ceil(log2(size)) steps; in each, every rank that has the
 * data sends it to one that has not.   Lab 13.3 */
mt_status mt_tree_broadcast(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, int root);

/* mt_tree_all_reduce -- data is reduced along a binary tree to rank 0, and broadcast: 2 ceil(log2(size)) steps.
 * Lab 13.3 */
mt_status mt_tree_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

/* mt_doubling_all_reduce -- in step s a rank exchanges all of data with the rank whose number differs in bit s:
 * log2(size) steps. If the size is not a power of two, and p is the largest power below it, the ranks from p on first
 * give their data to rank - p, and last get the result from it.   Lab 13.4 */
mt_status mt_doubling_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

/* ---- the choice (tree.c) ------------------------------------------------------------------------ */

typedef enum mt_algorithm { MT_RING, MT_TREE, MT_DOUBLING, MT_HIERARCHICAL } mt_algorithm;

/* mt_collective_seconds -- how long an all-reduce of `bytes` by one of the first three takes if all ranks begin at
 * once, each message takes latency + its bytes * byte_time, and parts are equal.   Lab 13.5 */
double mt_collective_seconds(mt_algorithm algorithm, int size, int64_t bytes, const mt_network *network);

/* mt_collective_pick -- which of these three takes the least time; of equal ones the first in mt_algorithm.
 * Lab 13.5 */
mt_algorithm mt_collective_pick(int size, int64_t bytes, const mt_network *network);

/* ---- hierarchy.c: ranks in nodes ---------------------------------------------------------------- */

/* mt_hierarchical_all_reduce -- ranks are in nodes of comm->nodes.size, of which comm->size is a multiple; 0 counts as
 * 1. The functions of ring.c, three times: reduce-scatter of data [n] among the ranks of a node; all-reduce of the part
 * that a rank then has, among the ranks with the same place in their nodes; all-gather among the ranks of a node. A
 * node sends 2 n (nodes - 1) / nodes elements to other nodes.   Lab 13.21 */
mt_status mt_hierarchical_all_reduce(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

/* mt_hierarchical_seconds -- mt_collective_seconds of all four, where ranks are in nodes and a message between ranks of
 * a node takes as long as nodes->inside says, which is not slower than network; size is a multiple of nodes->size >= 1.
 * Each step of a ring has a message from node to node, if there are several. If a node has 2^k ranks, k steps of
 * doubling are inside of nodes, and k in each direction of a tree; else they are taken to be between nodes, all of
 * them. Lab 13.22 */
double mt_hierarchical_seconds(mt_algorithm algorithm, int size, int64_t bytes, const mt_nodes *nodes,
                               const mt_network *network);

/* mt_hierarchical_pick -- which of the four takes the least time; of equal ones the first in mt_algorithm. Lab 13.22 */
mt_algorithm mt_hierarchical_pick(int size, int64_t bytes, const mt_nodes *nodes, const mt_network *network);

/* ---- the choice of a communicator (given) ------------------------------------------------------- */

/* mt_collective_choice -- which algorithm an all-reduce of `bytes` on comm takes: that of comm->way for the nearest
 * power of 4; else mt_hierarchical_pick's, if nodes are known that have equally many ranks, or mt_collective_pick's. */
mt_algorithm mt_collective_choice(const mt_comm *comm, int64_t bytes);

/* mt_collective_all_reduce -- one of mt_ring_all_reduce and the others. */
mt_status mt_collective_all_reduce(mt_algorithm algorithm, mt_comm *comm, void *data, int64_t n, mt_dtype dtype,
                                   mt_reduce op);

/* mt_collective_fix -- from now on all all-reduces of comm take this one. The same on all ranks. */
void mt_collective_fix(mt_comm *comm, mt_algorithm algorithm);

/* mt_collective_measure -- collective: from now on an all-reduce of comm takes the algorithm that took the slowest rank
 * the least time for so many bytes, of several trials now, with what the law leaves out: what messages cost the
 * processor, additions, how links behave. All ranks choose the same; another run may choose otherwise where two take
 * about as long, and its sums may differ in the last bit. */
mt_status mt_collective_measure(mt_comm *comm);

/* mt_reduce_into -- into [n] becomes into + from, or the larger of both. Sums of 16-bit floats are rounded once;
 * integers wrap. Sum and maximum do not depend on which of the two is into: ranks that swap them get the same bits. */
void mt_reduce_into(void *into, const void *from, int64_t n, mt_dtype dtype, mt_reduce op);

MT_C_END
