/* views.c -- reshape, permute, slice, broadcast: the result shares its source's memory, and its gradient is added to
 * the same view of the source's gradient.
 * Kernels: add_strided of kernels/kernels.h; CPU: kernels/elementwise_cpu.c; devices: kernels/tables.h. */
#include "ops/call.h"
#include "kernels/kernels.h"

/* dx, seen through the view that forward took, += dout; where the view repeats an element its repeats are summed. */
static void view_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *dx = mt_grad_of_input(node, 0);
    mt_strided to = { dx->storage->data, *(const mt_view *)node->user }, from = { dout->storage->data, dout->view };
    to.view.offset += dx->view.offset;
    mt_kernels(node->device)->add_strided(&to, &from);
    mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op view_op = { "view", MT_OP_ELEMENTWISE, view_backward };

/* t's memory seen through view; of_dense is the same view of a dense tensor of t's shape, as t's gradient is. */
static mt_tensor *view_of(mt_tensor *t, mt_view view, mt_view of_dense)
{
    mt_tensor *result = mt_tensor_view(t, view);
    mt_node *node = t->dtype == MT_F32 ? mt_record(&view_op, result, &t, 1) : NULL;
    if (node)
        mt_node_copy_user(node, &of_dense, sizeof of_dense);
    return result;
}

static mt_view dense_like(const mt_tensor *t)
{
    return mt_view_contiguous(mt_shape_of(t));
}

mt_tensor *mt_permute(mt_tensor *t, const int *order)
{
    mt_view dense = dense_like(t);
    return view_of(t, mt_view_permute(&t->view, order), mt_view_permute(&dense, order));
}

mt_tensor *mt_transpose(mt_tensor *t, int d0, int d1)
{
    mt_view dense = dense_like(t);
    return view_of(t, mt_view_transpose(&t->view, d0, d1), mt_view_transpose(&dense, d0, d1));
}

mt_tensor *mt_slice(mt_tensor *t, int dim, int64_t start, int64_t stop, int64_t step)
{
    mt_view dense = dense_like(t);
    return view_of(t, mt_view_slice(&t->view, dim, start, stop, step), mt_view_slice(&dense, dim, start, stop, step));
}

mt_tensor *mt_broadcast_to(mt_tensor *t, mt_shape shape)
{
    mt_view view, of_dense, dense = dense_like(t);
    mt_shape_numel(shape); /* aborts when the shape makes no sense */
    MT_CHECK(mt_view_broadcast(&view, &t->view, shape), "broadcast: %s does not stretch to %s", mt_text_of(t),
             mt_shape_text(shape));
    mt_view_broadcast(&of_dense, &dense, shape);
    return view_of(t, view, of_dense);
}

/* The same elements in the same order: a view where strides allow it, else a copy. */
mt_tensor *mt_reshape(mt_tensor *t, mt_shape shape)
{
    mt_view view;
    if (!mt_view_reshape(&view, &t->view, shape))
        return mt_reshape(mt_contiguous(t), shape);
    mt_tensor *result = mt_tensor_view(t, view);
    if (t->dtype == MT_F32)
        mt_record(&mt_same_order_op, result, &t, 1);
    return result;
}
