/* backward.c -- the walk back over the graph: every node once, after all who used its result.
 *
 *   count    from the loss, visit all it was computed from; each node and leaf learns how many gradients it will get
 *   deliver  take a node that has them all, let its op add to its inputs' gradients, free what it kept, and tick it off at
 *            its inputs; an input that nobody owes anything any more is next
 *
 * No recursion: a chain of 100,000 nodes needs a list, not 100,000 stack frames. */
#include "autograd/node.h"

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
             * Hint: edge->node, or edge->leaf, has a number `waiting`, which is 0 before a walk. Derive on paper, for the two
             * graphs of the handout, what it must be when the walk begins, and when a node may be put on the list. */
            MT_TODO("03.5");
        }
    }
    mt_node_list_free(&todo);
}

mt_tensor *mt_grad_of_input(mt_node *node, int i)
{
    mt_edge *edge = &node->edges[i];
    mt_tensor **grad = NULL;
    /* TODO 03.6: The buffer that the gradient of input i is added to.
     * Hint: the grad of edge->node, or of edge->leaf. Whoever comes first finds NULL and makes zeros (mt_grad_zeros); all
     * later ones find a sum to add to. A leaf's sum goes on from one backward to the next. */
    MT_TODO("03.6");
    return grad ? *grad : NULL;
}

/* Tick node off at its inputs. */
static void deliver(mt_node *node, mt_node_list *ready)
{
    for (int i = 0; i < node->edge_count; i++) {
        mt_edge *edge = &node->edges[i];
        /* TODO 03.7: Ready: nobody owes it a gradient any more.
         * Hint: count down what count_consumers counted up. At zero a node goes on the list; a leaf's gradient is
         * complete, which mt_grad_ready tells whoever waits for it. */
        MT_TODO("03.7");
    }
}

void mt_backward(mt_tensor *loss)
{
    mt_node_list ready = { 0 };
    mt_backward_check(loss);
    count_consumers(loss->node);
    loss->node->grad = mt_grad_one(loss);
    mt_node_list_push(&ready, loss->node);
    while (ready.count > 0) {
        mt_node *node = mt_node_list_pop(&ready);
        /* TODO 03.8: One node of the walk.
         * Hint: the op passes node->grad on, if any arrived (mt_node_backward); then what only this node needed is freed
         * (mt_node_consume, which keeps loss); then its inputs are ticked off. */
        MT_TODO("03.8");
    }
    mt_node_list_free(&ready);
}
