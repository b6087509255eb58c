/* node.h -- the parts of the tape that are given to lab 03: nodes are made, held, emptied and freed here. */
#pragma once

#include "autograd/tape.h"

MT_C_BEGIN

/* mt_node_new -- a node of this result, with empty edges; its one reference belongs to the caller (mt_record gives
 * it to out->node). */
mt_node *mt_node_new(const mt_op *op, mt_tensor *result, int edge_count);
mt_node *mt_node_retain(mt_node *node);
void mt_node_release(mt_node *node); /* frees long chains without recursion */

/* A growing stack of borrowed nodes: what is still to visit. { 0 } is empty. */
typedef struct mt_node_list {
    mt_node **item;
    int64_t count, capacity;
} mt_node_list;

void mt_node_list_push(mt_node_list *list, mt_node *node);
mt_node *mt_node_list_pop(mt_node_list *list); /* aborts: empty */
void mt_node_list_free(mt_node_list *list);

/* ---- steps of backward --------------------------------------------------------------------------- */

/* mt_backward_begin -- gives the node of `from` its gradient and returns it.   Aborts: no history, or another shape. */
mt_node *mt_backward_begin(mt_tensor *from, mt_tensor *gradient);

/* mt_node_check_fresh -- abort when an earlier backward has consumed the node. */
void mt_node_check_fresh(const mt_node *node);

/* mt_grad_zeros -- zeros of the edge's shape, a new tensor or the leaf's grad_memory, cleared; the reference belongs to
 * the caller. */
mt_tensor *mt_grad_zeros(const mt_node *node, const mt_edge *edge);

/* mt_node_backward -- let the op add to its inputs' gradients; scopes and recording stay as they are. node->grad must
 * not be NULL. */
void mt_node_backward(mt_node *node);

/* mt_node_consume -- free what only backward needed: saved tensors, the gradient, the result's memory if only the scope
 * holds it (never that of keep). The edges stay. */
void mt_node_consume(mt_node *node, const mt_tensor *keep);

MT_C_END
