/* tape.c -- recording: an op with an input that needs a gradient makes one node.
 *
 * The node's edges hold the nodes of its inputs, and leaves; what backward reads of an input, the op saves in the node.
 * It never holds its own result, so the graph has no cycle: it lives as long as the last tensor computed from it. */
#include "autograd/node.h"
#include "core/scope.h"

static _Thread_local int no_grad_depth;

bool mt_recording(void)
{
    return no_grad_depth == 0;
}

void mt_no_grad_begin(void)
{
    no_grad_depth++;
}

void mt_no_grad_end(void)
{
    MT_CHECK(no_grad_depth > 0, "mt_no_grad_end without mt_no_grad_begin");
    no_grad_depth--;
}

bool mt_wants_grad(const mt_tensor *t)
{
    /* TODO 03.1: Does this tensor need a gradient?
     * Hint: core/tensor.h has the two fields that tell: one is set in a parameter, the other in what was computed
     * from one. */
    MT_TODO("03.1"); /* delete this line when yours stands here */
}

/* The edge of one input: to the node that computed it, or to a leaf, where the walk ends. */
static mt_edge edge_to(mt_tensor *input)
{
    mt_edge edge = { .shape = mt_view_shape(&input->view) };
    /* TODO 03.2: Where does this input's gradient go?
     * Hint: an edge has three possible ends (autograd/tape.h). An input can have a node and requires_grad: which of
     * them goes first? An edge holds a reference to its target: mt_node_retain, mt_retain. */
    MT_TODO("03.2"); /* delete this line when yours stands here */
    return edge;
}

mt_node *mt_record(const mt_op *op, mt_tensor *out, mt_tensor *const *inputs, int count)
{
    mt_node *node = NULL;
    /* TODO 03.3: Make a node only if a gradient will be needed.
     * Hint: autograd/tape.h says when there is none. A new node (mt_node_new) has empty edges, one for each input,
     * and one reference: who takes it over? */
    MT_TODO("03.3"); /* delete this line when yours stands here */
    return node;
}

mt_tensor *mt_detach(const mt_tensor *t)
{
    mt_tensor *out = NULL;
    /* TODO 03.4: The same memory, without history.
     * Hint: core/tensor.h has a function for another tensor over the same memory. Every result belongs to the scope. */
    MT_TODO("03.4"); /* delete this line when yours stands here */
    return out;
}
