/* views.c -- gradients of reshape, permute, slice, broadcast and copies: back through the same view.
 *
 * core/tensor.c makes the views and knows no tape; it tells the tape through its hooks (autograd/node.c). */
#include "ops/op.h"

#include <stdlib.h>

/* The source's gradient, seen as the result saw the source. */
static mt_view seen(const mt_view_op *op, mt_view source, mt_shape result)
{
    mt_view out = source;
    switch (op->kind) {
    case MT_VIEW_RESHAPE:
    case MT_VIEW_CONTIGUOUS:
        out = mt_view_contiguous(result);
        break;
    case MT_VIEW_PERMUTE:
        out = mt_view_permute(&source, op->order);
        break;
    case MT_VIEW_SLICE: {
        int64_t count = result.dim[op->dim];
        int64_t stop = count == 0 ? op->start : op->start + (count - 1) * op->step + 1;
        out = mt_view_slice(&source, op->dim, op->start, stop, op->step);
        break;
    }
    case MT_VIEW_BROADCAST:
        mt_view_broadcast(&out, &source, result);
        break;
    }
    return out;
}

/* dx, seen through the view, += dout; where the view repeats an element its repeats are summed. */
static void view_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *dx = mt_grad_of_input(node, 0);
    mt_strided to = { dx->storage->data, seen(node->user, dx->view, node->shape) }, from = mt_strided_of(dout);
    mt_kernels(node->device)->add_strided(&to, &from);
    mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op view_op = { .name = "view", .backward = view_backward };

void mt_record_view(mt_tensor *result, mt_tensor *source, const mt_view_op *op)
{
    mt_node *node = source->dtype == MT_F32 ? mt_record(&view_op, result, &source, 1) : NULL;
    if (!node)
        return;
    mt_view_op *kept = malloc(sizeof *kept);
    MT_CHECK(kept, "out of memory");
    *kept = *op;
    node->user = kept;
    node->free_user = free;
}
