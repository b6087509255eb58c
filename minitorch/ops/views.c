/* views.c -- reshape, permute, slice, broadcast: the result shares its source's memory, and its gradient is added to
 * the same view of the source's gradient. And concat, whose parts are views of its result. */
#include "ops/call.h"
#include "ops/kernels_nd.h"

static mt_strided strided(const mt_tensor *t)
{
    return (mt_strided){ t->storage->data, t->view };
}

/* dx, seen through the view that forward took, += dout; where the view repeats an element its repeats are summed. */
static void view_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *dx = mt_grad_of_input(node, 0);
    mt_strided to = { dx->storage->data, *(const mt_view *)node->user }, from = strided(dout);
    to.view.offset += dx->view.offset;
    mt_nd_kernels(node->device)->add_strided(&to, &from);
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

mt_tensor *mt_reshape(mt_tensor *t, mt_shape shape)
{
    mt_view view;
    if (!mt_view_reshape(&view, &t->view, shape))
        return mt_reshape(mt_contiguous(t), shape);
    return view_of(t, view, mt_view_contiguous(shape));
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

/* ---- concat ------------------------------------------------------------------------------------------ */

/* One part of the whole: count indices of dimension dim, from start on. */
static mt_view stretch(mt_view whole, int dim, int64_t start, int64_t count)
{
    return mt_view_slice(&whole, dim, start, start + count, 1);
}

static void concat_backward(mt_node *node, mt_tensor *dout)
{
    int dim = (int)node->dims[0];
    int64_t start = 0;
    for (int i = 0; i < node->edge_count; i++) {
        mt_tensor *d = mt_grad_of_input(node, i);
        int64_t count = node->edges[i].shape.dim[dim];
        if (d) {
            mt_strided to = strided(d), from = { dout->storage->data, stretch(dout->view, dim, start, count) };
            mt_nd_kernels(node->device)->add_strided(&to, &from);
            mt_count_work(mt_numel(d), 12 * mt_numel(d));
        }
        start += count;
    }
}

static const mt_op concat_op = { "concat", MT_OP_ELEMENTWISE, concat_backward };

/* dim counted from the front; aborts unless the parts fit together along it. */
static int checked_dim(mt_tensor *const *parts, int count, int dim)
{
    mt_shape first = mt_shape_of(parts[0]);
    MT_CHECK(dim >= -first.rank && dim < first.rank, "concat: %s has no dimension %d", mt_text_of(parts[0]), dim);
    dim += dim < 0 ? first.rank : 0;
    for (int i = 1; i < count; i++) {
        mt_shape shape = mt_shape_of(parts[i]);
        if (shape.rank == first.rank)
            shape.dim[dim] = first.dim[dim];
        MT_CHECK(mt_shape_equal(shape, first), "concat: part 0 is %s, part %d is %s: only dimension %d may differ",
                 mt_text_of(parts[0]), i, mt_text_of(parts[i]), dim);
    }
    return dim;
}

mt_tensor *mt_concat(mt_tensor *const *parts, int count, int dim)
{
    MT_CHECK(count >= 1, "concat: no parts");
    mt_input inputs[count];
    for (int i = 0; i < count; i++)
        inputs[i] = (mt_input){ (mt_tensor **)&parts[i], MT_ANY_VIEW };
    mt_call c;
    mt_call_begin(&c, &concat_op, inputs, count);
    dim = checked_dim(parts, count, dim);
    mt_shape shape = mt_shape_of(parts[0]);
    shape.dim[dim] = 0;
    for (int i = 0; i < count; i++)
        shape.dim[dim] += parts[i]->view.shape[dim];
    mt_tensor *out = mt_call_result(&c, shape);
    int64_t start = 0;
    for (int i = 0; i < count; i++) {
        int64_t size = parts[i]->view.shape[dim];
        mt_strided to = { out->storage->data, stretch(out->view, dim, start, size) }, from = strided(parts[i]);
        mt_nd_kernels(c.device)->copy_to_strided(&to, &from);
        start += size;
    }
    mt_node *node = mt_call_end(&c, 0, 8 * mt_numel(out));
    if (node)
        node->dims[0] = dim;
    return out;
}
