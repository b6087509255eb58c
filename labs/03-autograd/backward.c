/* backward.c -- the walk backwards over the graph: every node once, after all users of its result.
 *
 *   count    from the last result, visit all its inputs, and count how many gradients each node and leaf will get
 *   deliver  take a node that has them all, let its op add to its inputs' gradients, free what it saved, and count down
 *            its inputs; an input whose count is zero is ready
 *
 * No recursion: a chain of 100,000 nodes needs a list, not 100,000 stack frames. */
#include "autograd/node.h"
#include "core/scope.h"

static void count_consumers(mt_node *root)
{
    mt_node_list todo = { 0 };
    mt_node_list_push(&todo, root);
    while (todo.count > 0) {
        mt_node *node = mt_node_list_pop(&todo);
        mt_node_check_fresh(node);
        for (int i = 0; i < node->edge_count; i++) {
            mt_edge *edge = &node->edges[i];
            /* TODO 03.5: What this edge adds to the counts and to the list.
             * Hint: edge->node, or edge->leaf, has a number `waiting`, which is 0 before a walk. Derive on paper, for
             * the two graphs of the handout, what it must be when the walk begins, and when a node may be put on the
             * list. */
            MT_TODO("03.5"); /* delete this line when yours stands here */
        }
    }
    mt_node_list_free(&todo);
}

mt_tensor *mt_grad_of_input(mt_node *node, int i)
{
    mt_edge *edge = &node->edges[i];
    mt_tensor **grad = NULL;
    /* TODO 03.6: The buffer that the gradient of input i is added to.
     * Hint: nodes and leaves both have a grad, NULL before the first use; autograd/node.h says what allocates it.
     * Later calls return the sum so far. A leaf's sum is kept from one backward to the next. */
    MT_TODO("03.6"); /* delete this line when yours stands here */
    return grad ? *grad : NULL;
}

/* Count down the inputs of node. */
static void deliver(mt_node *node, mt_node_list *ready)
{
    for (int i = 0; i < node->edge_count; i++) {
        mt_edge *edge = &node->edges[i];
        /* TODO 03.7: A node or leaf is ready when all its gradients have arrived.
         * Hint: count down what count_consumers counted up. At zero a node goes on the list; for a leaf call
         * mt_grad_ready, because its gradient is complete. */
        MT_TODO("03.7"); /* delete this line when yours stands here */
    }
}

void mt_backward_from(mt_tensor *from, mt_tensor *gradient)
{
    mt_node_list ready = { 0 };
    mt_node *root = mt_backward_begin(from, gradient);
    count_consumers(root);
    mt_node_list_push(&ready, root);
    while (ready.count > 0) {
        mt_node *node = mt_node_list_pop(&ready);
        /* TODO 03.8: One node of the walk.
         * Hint: the op passes on its gradient, if it got any; what only this node needs is freed, but for `from`;
         * its inputs are counted down. What must come first? autograd/node.h has the functions. */
        MT_TODO("03.8"); /* delete this line when yours stands here */
    }
    mt_node_list_free(&ready);
}

void mt_backward(mt_tensor *loss)
{
    const float one = 1;
    MT_CHECK(mt_numel(loss) == 1, "backward starts from one number, loss is %s: take its sum or mean",
             mt_text_of(loss));
    mt_scope_begin();
    mt_tensor *gradient = mt_from(mt_shape_of(loss), MT_F32, &one);
    mt_backward_from(loss, mt_to_device(gradient, mt_device_of(loss)));
    mt_scope_end();
}
